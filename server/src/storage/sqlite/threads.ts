/**
 * The threads that connections run in. The product opens a store once, and a connection's thread ends with it. Tests
 * open hundreds, one after the other, and keep some threads: starting a thread costs far more than opening a database.
 */
import { Worker } from 'node:worker_threads'
import type { WorkerMessage, WorkerOptions } from './messages.ts'
import { workerLocation } from './worker-location.ts'

const idle: Worker[] = []
let idleMost = 0

/** From now on up to this many threads of this process are kept for another connection when theirs has closed. */
export function keepIdleThreads(most: number): void {
  idleMost = most
}

/** Of a store that is opened: one that writes and one that reads. */
const THREADS_AT_FIRST = 2

/** Starts the threads of the next store, both at once, while its process still does something else. */
export function startThreads(): void {
  while (idle.length < THREADS_AT_FIRST) keepThread(startThread())
}

/** A thread that opens this connection; its first message says that it has. */
export function takeThread(options: WorkerOptions): Worker {
  const thread = idle.pop() ?? startThread()
  thread.removeAllListeners()
  thread.postMessage({ kind: 'open', options } satisfies WorkerMessage)
  return thread
}

/** What a thread does once its connection has closed. */
export function afterClosing(): 'wait' | 'end' {
  return idle.length < idleMost ? 'wait' : 'end'
}

/** Keeps a waiting thread: it reports nothing and does not keep the process alive. */
export function keepThread(thread: Worker): void {
  thread.removeAllListeners()
  // It has no open resources; if it ends, the next connection starts another.
  thread.on('error', () => undefined)
  thread.on('exit', () => {
    const index = idle.indexOf(thread)
    if (index >= 0) idle.splice(index, 1)
  })
  thread.unref()
  idle.push(thread)
}

function startThread(): Worker {
  return new Worker(workerLocation(), {
    name: 'storage',
    // Node's own SQLite prints a warning about experimental features at every start.
    execArgv: [...process.execArgv.filter(suitsThread), '--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
  })
}

/**
 * V8 gives a thread 48 MiB for new objects, and fills them before it collects any. Hardly anything of a batch outlives it,
 * so collecting earlier costs nothing.
 */
const YOUNG_MIB = 12

/** Flags of the whole process, such as the size of its heap, are not allowed for a thread. */
function suitsThread(flag: string): boolean {
  return flag.startsWith('--enable-source-maps') || flag.startsWith('--cpu-prof')
}
