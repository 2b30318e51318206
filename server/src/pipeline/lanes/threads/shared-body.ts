import type { ReceivedBody } from '../../call.ts'
import { sharedBytes } from './shared-bytes.ts'

/** A received body as threads may read it; copied once per call. Throws 50301 when the copy does not fit. */
export function sharedBody(body: Omit<ReceivedBody, 'release'>): Promise<Uint8Array> {
  const { memo } = body
  if (memo.shared !== undefined) return memo.shared
  body.hold(body.length)
  memo.shared = sharedBytes(body.chunks, body.length)
  return memo.shared
}
