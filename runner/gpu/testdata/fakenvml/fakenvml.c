/*
 * A fake libnvidia-ml.so.1: the dozen functions that rung calls, answering from a
 * text file that the environment variable FAKE_NVML_STATE names and that is read
 * again on each call. Its lines:
 *
 *   device 0 uuid GPU-a name "Fake A" total 85899345920 used 123 reserved 456
 *          util 50 memutil 7 power 250000 limit 300000 temp 60 sm 1980 mem 2619
 *          energy 5000 throttle 4 mig 0 ecc 1
 *          samples "1000:30 2000:70"                             (on one line)
 *   lacks util          the field is NVML_ERROR_NOT_SUPPORTED; one a line
 *   fail init 9         nvmlInit gives the code
 *   fail util 999       reading the field gives the code
 *   crash temp          reading the field ends the process; hang temp: it never returns
 *   fail device1 15     every call on the device gives the code, opening it too
 *
 * Samples are of utilisation, microseconds and percent. Memory is in bytes, power in mW, energy in mJ, clocks in MHz, as NVML has them.
 * A symbol is left out by -DNO_MEMORY_V2, -DNO_MEMORY_V1, -DNO_ENERGY,
 * -DNO_ERROR_STRING, -DNO_UTIL, -DNO_HANDLE, -DNO_INIT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int ret_t;
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } memory_v2_t;
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned int gpu, memory; } utilization_t;

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, VERSION_MISMATCH = 25 };
enum { MOST = 8 };

struct device {
	int there;
	char uuid[96], name[96], samples[512];
	unsigned long long total, used, reserved, util, memutil, power, limit, temp, sm, mem, energy, throttle, mig, ecc, pid, pid2;
};

struct state {
	struct device d[MOST];
	int count, code; /* code: what the field that was asked for gives */
};

static int initialised;

/* word takes the next word of a line, or what stands in quotes. */
static int word(char **at, char *out, size_t size) {
	char *p = *at;
	size_t n = 0;
	while (*p == ' ' || *p == '\t' || *p == '\n') p++;
	if (!*p) return 0;
	char end = ' ';
	if (*p == '"') { end = '"'; p++; }
	while (*p && *p != end && *p != '\n') {
		if (n + 1 < size) out[n++] = *p;
		p++;
	}
	if (*p == '"') p++;
	out[n] = 0;
	*at = p;
	return 1;
}

static void set(struct device *d, const char *key, const char *value) {
	unsigned long long v = strtoull(value, NULL, 10);
	if (!strcmp(key, "uuid")) snprintf(d->uuid, sizeof d->uuid, "%s", value);
	else if (!strcmp(key, "name")) snprintf(d->name, sizeof d->name, "%s", value);
	else if (!strcmp(key, "samples")) snprintf(d->samples, sizeof d->samples, "%s", value);
	else if (!strcmp(key, "total")) d->total = v;
	else if (!strcmp(key, "used")) d->used = v;
	else if (!strcmp(key, "reserved")) d->reserved = v;
	else if (!strcmp(key, "util")) d->util = v;
	else if (!strcmp(key, "memutil")) d->memutil = v;
	else if (!strcmp(key, "power")) d->power = v;
	else if (!strcmp(key, "limit")) d->limit = v;
	else if (!strcmp(key, "temp")) d->temp = v;
	else if (!strcmp(key, "sm")) d->sm = v;
	else if (!strcmp(key, "mem")) d->mem = v;
	else if (!strcmp(key, "energy")) d->energy = v;
	else if (!strcmp(key, "throttle")) d->throttle = v;
	else if (!strcmp(key, "mig")) d->mig = v;
	else if (!strcmp(key, "ecc")) d->ecc = v;
	else if (!strcmp(key, "pid")) d->pid = v;
	else if (!strcmp(key, "pid2")) d->pid2 = v;
}

/* look reads the state for one field of one device; device < 0: of none. */
static struct state *look(int device, const char *field) {
	static struct state state, *s = &state;
	static int fixed;
	if (fixed) return s;
	memset(s, 0, sizeof *s);
	const char *path = getenv("FAKE_NVML_STATE");
	FILE *f = path ? fopen(path, "r") : NULL;
	if (!f) { s->code = 999; return s; }
	char line[2048], w[256], v[256], broken[32];
	snprintf(broken, sizeof broken, "device%d", device);
	while (fgets(line, sizeof line, f)) {
		char *at = line;
		if (!word(&at, w, sizeof w)) continue;
		if (!strcmp(w, "lacks")) {
			if (word(&at, v, sizeof v) && !strcmp(v, field)) s->code = NOT_SUPPORTED;
		} else if (!strcmp(w, "hang") || !strcmp(w, "crash")) {
			if (word(&at, v, sizeof v) && !strcmp(v, field)) {
				if (!strcmp(w, "crash")) {
					fprintf(stderr, "fake driver: crashing at %s\n", field);
					abort();
				}
				for (;;) sleep(1000);
			}
		} else if (!strcmp(w, "fail")) {
			if (word(&at, w, sizeof w) && (!strcmp(w, field) || (device >= 0 && !strcmp(w, broken))))
				s->code = word(&at, v, sizeof v) ? atoi(v) : 999;
		} else if (!strcmp(w, "device") && word(&at, v, sizeof v)) {
			int i = atoi(v);
			if (i < 0 || i >= MOST) continue;
			struct device *d = &s->d[i];
			d->there = 1;
			if (i + 1 > s->count) s->count = i + 1;
			while (word(&at, w, sizeof w) && word(&at, v, sizeof v)) set(d, w, v);
		}
	}
	fclose(f);
	fixed = getenv("FAKE_NVML_FIXED") != NULL; /* for measuring what rung takes, not this */
	return s;
}

/* ask looks at one field of a device by its handle. */
static ret_t ask(void *handle, const char *field, struct device **d) {
	long i = (long)handle - 1;
	if (!initialised) return UNINITIALIZED;
	if (i < 0 || i >= MOST) return INVALID_ARGUMENT;
	struct state *s = look((int)i, field);
	*d = &s->d[i];
	return s->code ? s->code : (*d)->there ? SUCCESS : INVALID_ARGUMENT;
}

#ifndef NO_INIT
ret_t nvmlInit_v2(void) {
	struct state *s = look(-1, "init");
	if (!s->code) initialised++; /* counted, as NVML counts it */
	return s->code;
}
#endif

ret_t nvmlShutdown(void) {
	if (!initialised) return UNINITIALIZED;
	initialised--;
	return SUCCESS;
}

#ifndef NO_ERROR_STRING
const char *nvmlErrorString(ret_t code) {
	static char text[64];
	snprintf(text, sizeof text, "fake error %d", code);
	return text;
}
#endif

ret_t nvmlSystemGetDriverVersion(char *out, unsigned int n) {
	snprintf(out, n, "fake-1.0");
	return SUCCESS;
}

ret_t nvmlDeviceGetCount_v2(unsigned int *count) {
	struct state *s = look(-1, "count");
	*count = (unsigned int)s->count;
	return s->code;
}

#ifndef NO_HANDLE
ret_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **handle) {
	struct device *d;
	*handle = (void *)(long)(index + 1);
	return ask(*handle, "handle", &d);
}
#endif

/* The samples of utilisation after a time; without room, how many there may be. */
typedef struct { unsigned long long time; union { double d; unsigned int u; unsigned long long ull; } value; } sample_t;
ret_t nvmlDeviceGetSamples(void *handle, int type, unsigned long long after, int *kind, unsigned int *n, sample_t *out) {
	struct device *d;
	ret_t r = ask(handle, "samples", &d);
	if (r) return r;
	*kind = 1; /* unsigned int */
	unsigned int have = 0;
	char *at = d->samples, w[64];
	while (type == 1 && word(&at, w, sizeof w)) {
		unsigned long long time = strtoull(w, NULL, 10);
		char *value = strchr(w, ':');
		if (time <= after || !value) continue;
		if (out && have < *n) { out[have].time = time; out[have].value.ull = 0; out[have].value.u = (unsigned int)atoi(value + 1); }
		have++;
	}
	*n = have;
	return have ? SUCCESS : NOT_FOUND;
}

#define TEXT(function, field)                                         \
	ret_t function(void *handle, char *out, unsigned int n) {     \
		struct device *d;                                     \
		ret_t r = ask(handle, #field, &d);                    \
		if (!r) snprintf(out, n, "%s", d->field);             \
		return r;                                             \
	}
TEXT(nvmlDeviceGetUUID, uuid)
TEXT(nvmlDeviceGetName, name)

#define NUMBER(function, field, type)                                 \
	ret_t function(void *handle, type *out) {                     \
		struct device *d;                                     \
		ret_t r = ask(handle, #field, &d);                    \
		if (!r) *out = (type)d->field;                        \
		return r;                                             \
	}
NUMBER(nvmlDeviceGetPowerUsage, power, unsigned int)
NUMBER(nvmlDeviceGetPowerManagementLimit, limit, unsigned int)
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, throttle, unsigned long long)
#ifndef NO_ENERGY
NUMBER(nvmlDeviceGetTotalEnergyConsumption, energy, unsigned long long)
#endif

/* The processes that compute on a device: pid and pid2, where they are not 0. */
#define PROCESSES(function, info)                                              \
	ret_t function(void *handle, unsigned int *n, info *out) {             \
		struct device *d;                                              \
		ret_t r = ask(handle, "pid", &d);                              \
		if (r) return r;                                               \
		unsigned int have = (d->pid != 0) + (d->pid2 != 0);            \
		unsigned int room = *n;                                        \
		*n = have;                                                     \
		if (have > room) return INSUFFICIENT_SIZE;                     \
		if (d->pid) (out++)->pid = (unsigned int)d->pid;               \
		if (d->pid2) out->pid = (unsigned int)d->pid2;                 \
		return SUCCESS;                                                \
	}
typedef struct { unsigned int pid; unsigned long long used; } process_v1_t;
typedef struct { unsigned int pid; unsigned long long used; unsigned int gpu, compute; } process_t;
#ifndef NO_PROCESSES
PROCESSES(nvmlDeviceGetComputeRunningProcesses, process_v1_t)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, process_t)
#endif

#define MODE(function, field)                                                  \
	ret_t function(void *handle, unsigned int *now, unsigned int *later) { \
		struct device *d;                                              \
		ret_t r = ask(handle, #field, &d);                             \
		if (!r) *now = *later = (unsigned int)d->field;                \
		return r;                                                      \
	}
MODE(nvmlDeviceGetMigMode, mig)
MODE(nvmlDeviceGetEccMode, ecc)

ret_t nvmlDeviceGetTemperature(void *handle, int sensor, unsigned int *out) {
	struct device *d;
	ret_t r = ask(handle, "temp", &d);
	if (!r && sensor != 0) r = INVALID_ARGUMENT;
	if (!r) *out = (unsigned int)d->temp;
	return r;
}

ret_t nvmlDeviceGetClockInfo(void *handle, int kind, unsigned int *out) {
	struct device *d;
	ret_t r = ask(handle, kind == 1 ? "sm" : "mem", &d);
	if (!r && kind != 1 && kind != 2) r = INVALID_ARGUMENT;
	if (!r) *out = (unsigned int)(kind == 1 ? d->sm : d->mem);
	return r;
}

#ifndef NO_UTIL
ret_t nvmlDeviceGetUtilizationRates(void *handle, utilization_t *out) {
	struct device *d;
	ret_t r = ask(handle, "util", &d);
	if (!r) out->gpu = (unsigned int)d->util, out->memory = (unsigned int)d->memutil;
	return r;
}
#endif

/* The newer call keeps what the driver reserves apart. */
#ifndef NO_MEMORY_V2
ret_t nvmlDeviceGetMemoryInfo_v2(void *handle, memory_v2_t *out) {
	struct device *d;
	if (out->version != (sizeof *out | 2u << 24)) return VERSION_MISMATCH;
	ret_t r = ask(handle, "memory", &d);
	if (!r) {
		out->total = d->total, out->used = d->used, out->reserved = d->reserved;
		out->free = d->total - d->used - d->reserved;
	}
	return r;
}
#endif

/* The older call counts it as used. */
#ifndef NO_MEMORY_V1
ret_t nvmlDeviceGetMemoryInfo(void *handle, memory_t *out) {
	struct device *d;
	ret_t r = ask(handle, "memory", &d);
	if (!r) {
		out->total = d->total, out->used = d->used + d->reserved;
		out->free = d->total - out->used;
	}
	return r;
}
#endif
