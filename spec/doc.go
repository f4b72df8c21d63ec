// Package spec reads an experiment file and gives the plan of what a run will
// do. It opens no connection and starts no process.
package spec
