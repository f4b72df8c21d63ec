package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Compare joins what a server says is in force with what its command asked for. The
// first of said that names a setting is believed. server is nil where it is attached:
// then nothing is known of its command, and nothing is said of its defaults.
//
// The notices are for a reader: one for each difference, and one for all limits that the
// command leaves to the server.
func Compare(server *plan.Server, said []record.Setting) (all []record.Setting, notices []string) {
	byName := map[string]record.Setting{}
	for _, s := range said {
		if _, ok := byName[s.Name]; !ok && s.InForce != "" {
			byName[s.Name] = s
		}
	}
	context(byName)
	if server != nil {
		ask(byName, *server)
	}
	var left []string
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		s := byName[name]
		all = append(all, s)
		switch {
		case s.Differs:
			notices = append(notices, fmt.Sprintf("the server runs with %s %s (%s), and its command asks for %s %s", s.Name, s.InForce, s.Source, s.Flag, s.Asked))
		case s.Defaults && s.InForce != "":
			left = append(left, fmt.Sprintf("%s, which is %s (%s)", s.Flag, s.InForce, s.Source))
		case s.Defaults:
			left = append(left, s.Flag+", which the server does not tell")
		}
	}
	if len(left) > 0 {
		notices = append(notices, "the server's command leaves these limits open: "+strings.Join(left, "; ")+": what is measured holds for this version and machine")
	}
	return all, notices
}

// ask adds what the command says, where the program is known.
func ask(byName map[string]record.Setting, server plan.Server) {
	_, file := server.Flag("--config") // it may set whatever the command does not
	for _, k := range knownOf(server.Software()) {
		s := byName[k.name]
		s.Name, s.Flag = k.name, k.flags[0]
		value, given := k.asked(server)
		switch {
		case given:
			s.Asked = value
			s.Differs = differ(value, s.InForce)
		case k.limit && !file && !set(byName[k.unless]):
			s.Defaults = true
		}
		if given || s.Defaults || s.InForce != "" {
			byName[k.name] = s
		}
	}
}

// set says that a setting has a value, asked for or in force.
func set(s record.Setting) bool {
	return s.Asked != "" || s.InForce != "" && !strings.EqualFold(s.InForce, "none")
}

// context adds the whole context of llama.cpp's server, which tells what a slot has: its
// share, or where the slots have one memory all of it.
func context(byName map[string]record.Setting) {
	slot, err1 := strconv.Atoi(byName["ctx_slot"].InForce)
	slots, err2 := strconv.Atoi(byName["parallel"].InForce)
	unified, err3 := strconv.ParseBool(byName["kv_unified"].InForce)
	if err1 != nil || err2 != nil || err3 != nil {
		return
	}
	if !unified {
		slot *= slots
	}
	byName["ctx_size"] = record.Setting{Name: "ctx_size", InForce: strconv.Itoa(slot), Source: Log}
}

// asked is the value that the command gives a setting.
func (k known) asked(server plan.Server) (value string, given bool) {
	if k.toggle {
		if _, no := server.Flag("--no-" + strings.TrimPrefix(k.flags[0], "--")); no {
			return "false", true
		}
		_, yes := server.Flag(k.flags[0])
		return "true", yes
	}
	value, given = server.Flag(k.flags...)
	if !given && k.env != "" {
		value, given = server.Variable(k.env)
	}
	if given && value == "" {
		value = "(not shown)" // a sensitive variable's
	}
	return value, given
}

// differ says that two values are not the same. What can't be compared, as "auto" with a
// number, or a number that leaves the choice to the server, does not differ.
func differ(asked, inForce string) bool {
	a, errA := strconv.ParseFloat(asked, 64)
	b, errB := strconv.ParseFloat(inForce, 64)
	if errA == nil && errB == nil {
		return a > 0 && a != b
	}
	p, errP := strconv.ParseBool(strings.ToLower(asked))
	q, errQ := strconv.ParseBool(strings.ToLower(inForce))
	return errP == nil && errQ == nil && p != q
}
