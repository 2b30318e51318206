/**
 * Where the worker's file lies. In the built product it is beside the bundle this module became part of; from source
 * it is the built one too, because a thread of the oldest supported Node cannot load TypeScript. `npm test` builds it
 * first.
 */
export const WORKER_FILE = 'storage-worker.js'

export function workerLocation(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? `../../../dist/${WORKER_FILE}` : `./${WORKER_FILE}`, import.meta.url)
}
