/** A conversion thread, as the pool sees it. */
import { Worker } from 'node:worker_threads'
import type { PoolThread } from './thread-pool.ts'
import type { Task, TaskResult } from './work.ts'

const MIB = 1024 * 1024
/** For code and small tasks. */
const HEAP_BASE_MIB = 128
/** Its text twice at two bytes per character, its values, and the text of the result. */
const HEAP_PER_BODY = 8

/**
 * @param bodyLimitBytes the largest body; it bounds what the thread may take
 * @param onError called when a thread cannot be ended
 */
export function openConversionThread(
  bodyLimitBytes: number,
  onError: (error: unknown) => void,
): PoolThread<Task, TaskResult> {
  const worker = new Worker(location(), {
    name: 'conversion',
    resourceLimits: {
      maxOldGenerationSizeMb: HEAP_BASE_MIB + Math.ceil((HEAP_PER_BODY * bodyLimitBytes) / MIB),
    },
    execArgv: process.execArgv.filter((flag) => flag.startsWith('--enable-source-maps')),
  })
  const events: PoolThread<Task, TaskResult>['events'] = {
    onResult: () => undefined,
    onExit: () => undefined,
  }
  let ended = false
  let cause: NodeJS.ErrnoException | undefined
  worker.unref()
  worker.on('message', (result: TaskResult) => {
    worker.unref()
    events.onResult(result)
  })
  worker.on('error', (error: NodeJS.ErrnoException) => {
    cause = error
  })
  worker.on('exit', (code) => {
    if (ended) return
    ended = true
    events.onExit({
      memory: cause?.code === 'ERR_WORKER_OUT_OF_MEMORY',
      message: cause?.message ?? `the thread ended with ${code}`,
    })
  })
  return {
    events,
    post(task) {
      // A call waits for it, so the process must stay alive.
      worker.ref()
      worker.postMessage(task)
    },
    end() {
      ended = true
      worker.terminate().catch(onError)
    },
  }
}

/**
 * Next to the bundle that holds this module; when run from source, the built file is used too, because the oldest Node
 * cannot run TypeScript.
 */
function location(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  const file = 'conversion-worker.js'
  return new URL(fromSource ? `../../../../dist/${file}` : `./${file}`, import.meta.url)
}
