import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Of all that is still in use. What a collection frees is counted when the next one begins: a thread sweeps it meanwhile. */
export function bytesInBuffers(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc(); gc()')
  return process.memoryUsage().arrayBuffers
}
