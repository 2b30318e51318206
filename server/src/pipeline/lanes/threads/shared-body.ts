import type { ReceivedBody } from '../../call.ts'
import { sharedBytes } from './shared-bytes.ts'

/** A received body in memory that threads share; copied once per call. Throws 50301 if the copy does not fit. */
export function sharedBody(
  body: Pick<ReceivedBody, 'chunks' | 'hold' | 'length' | 'memo'>,
): Promise<Uint8Array> {
  const { memo } = body
  if (memo.shared !== undefined) return memo.shared
  body.hold(body.length)
  memo.shared = sharedBytes(body.chunks, body.length)
  return memo.shared
}
