/** Seconds of CPU of a process, all its threads and its children. */
export declare function cpuSeconds(pid: number | undefined): number
