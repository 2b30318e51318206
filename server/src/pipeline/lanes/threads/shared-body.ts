import type { ReceivedBody } from '../../call.ts'
import { sharedBytes } from './shared-bytes.ts'

const copies = new WeakMap<ReceivedBody, Promise<Uint8Array>>()

/** A received body as threads may read it; copied once per call. Throws 50301 when the copy does not fit. */
export function sharedBody(body: ReceivedBody): Promise<Uint8Array> {
  const known = copies.get(body)
  if (known !== undefined) return known
  body.hold(body.length)
  const copy = sharedBytes(body.chunks, body.length)
  copies.set(body, copy)
  return copy
}
