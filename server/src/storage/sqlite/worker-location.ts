/**
 * The path of the worker's file. In the built product it is next to the bundle that holds this module; when run from
 * source, the built file is used too, because a thread of the oldest supported Node cannot load TypeScript. `npm test`
 * builds it first.
 */
export const WORKER_FILE = 'storage-worker.js'

export function workerLocation(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? `../../../dist/${WORKER_FILE}` : `./${WORKER_FILE}`, import.meta.url)
}
