package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Mark knows a group of processes again after rung itself was killed, and tells it from
// another that has got its number since.
type Mark struct {
	Group int    `json:"group"`
	Began uint64 `json:"began"` // of its leader, in clock ticks since the machine started
	Boot  string `json:"boot"`  // which start of the machine that was
}

// MarkOf is the mark of the group that a process leads. It is false where the system does
// not tell.
func MarkOf(pid int) (Mark, bool) {
	s, ok := statOf(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return Mark{Group: pid, Began: s.began, Boot: bootID()}, ok
}

// Left says whether any of the marked group still runs. before is when rung was last seen:
// what began later is another's.
func (m Mark) Left(before time.Time) bool {
	if m.Group <= 1 || m.Boot == "" || m.Boot != bootID() {
		return false
	}
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return false
	}
	for _, path := range paths {
		s, ok := statOf(path)
		if !ok || s.group != m.Group || s.state == "Z" {
			continue
		}
		if s.pid == m.Group {
			return s.began == m.Began
		}
		if !startOf(s.began).After(before) {
			return true
		}
	}
	return false
}

// End ends what is left of the group: asked first and, after the grace, killed. It says
// whether all of it is gone.
func (m Mark) End(before time.Time, grace time.Duration) bool {
	const step = 20 * time.Millisecond
	_ = syscall.Kill(-m.Group, syscall.SIGTERM)
	for until := time.Now().Add(grace); m.Left(before) && time.Now().Before(until); {
		time.Sleep(step)
	}
	if m.Left(before) {
		_ = syscall.Kill(-m.Group, syscall.SIGKILL)
	}
	for until := time.Now().Add(10 * time.Second); m.Left(before) && time.Now().Before(until); {
		time.Sleep(step)
	}
	return !m.Left(before)
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// startOf is a point on the wall clock, to a second.
func startOf(ticks uint64) time.Time {
	const perSecond = 100 // of the clock ticks that Linux shows, on every architecture
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "btime "); ok {
			boot, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return time.Unix(boot+int64(ticks/perSecond), 0)
		}
	}
	return time.Time{}
}
