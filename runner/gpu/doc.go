// Package gpu samples the accelerator. It alone knows NVML, and only where the
// binary was built with cgo on Linux; elsewhere Open says so.
//
// A column has three states: a value, absent (nil, this time), and unsupported
// (nil always, and named in record.Device.Unsupported). Zero is never a guess.
//
// NVML is read in a process of its own (Child starts it, Serve is it), which keeps the
// schedule and hands over its readings every 100 ms, or at once when it is asked: to wake two
// processes for each would cost more than the reading.
//
// Beside NVML samples come from nvidia-smi (package smi), and from what was recorded
// on another machine (package foreign puts it on the run's clock).
//
// # What a card tells
//
// No two models tell the same, and a driver may answer a hundred times a second with a
// figure that it makes anew ten times. On the GPU's machine
//
//	make build
//	bin/rung sample --probe                  # all cards, for three seconds
//	bin/rung sample --probe --device GPU-5f --for 10s
//
// prints for each card every field: its value, whether card and driver have it at all,
// and how often it changed in a second, of 100 readings. A field that does not change
// on an idle card says nothing of its rate: put a load on it meanwhile. That needs no
// CUDA program of one's own; any server that is to be measured will do, under
//
//	rung run experiment.hcl
//
// from a second terminal. A spec's gpu.interval below the time between two changes of
// a field brings no more of it; one below the time of a reading, which the last line
// says, is late every time.
//
// On the library that the tests compile in a driver's place it prints
//
//	device 0, Fake A, GPU-a, driver fake-1.0, memory by the call v2
//	field               value        unit   supported  changes a second
//	mem_total_bytes     85899345920  bytes  yes        0.0
//	mem_used_bytes      1000         bytes  yes        0.0
//	...
//	energy_j            -            J      no         -
//
// # A machine apart
//
// Where rung does not run on the GPU's machine, start there
//
//	rung sample --out samples
//
// or, without rung, the query in smi.Query, into a file. Run the experiment, end the
// recording, and bring both together by
//
//	rung import results/experiment --gpu samples --align
//
// The offset of the clocks that --align finds is where utilisation, or else power, goes
// best with the requests in flight, on a grid of 100 ms. What it states as uncertain is
// half the width of that peak at half of its height: a load of many short pulses tells
// more than one long one. It refuses where nothing stands out, or two places fit alike.
package gpu
