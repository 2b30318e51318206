import { isNear } from '../lanes/threads/conversions.ts'
import { sharedText } from '../lanes/threads/shared-text.ts'
import { showKept } from '../lanes/threads/show-kept.ts'
import type { Shown, ShowTask } from '../lanes/threads/work.ts'
import type { AuthenticatedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { sharedBytes } from '../lanes/threads/shared-bytes.ts'

/** A stored response as shown to clients, as JSON in bytes; a large one is read in a thread. Throws `GatewayError`. */
export async function showStored(
  { conversions }: Pick<Pipeline, 'conversions'>,
  { account }: Pick<AuthenticatedCall, 'account'>,
  of: ShowTask['of'],
): Promise<Shown> {
  const size = { bytes: of.kind === 'forwarded' ? of.body.byteLength : of.turn.length, values: 0 }
  if (isNear(size)) {
    await conversions.turn(size)
    return showKept({ kind: 'show', of })
  }
  const shared =
    of.kind === 'forwarded'
      ? { ...of, body: await sharedBytes([of.body], of.body.byteLength) }
      : { ...of, turn: typeof of.turn === 'string' ? await sharedText(of.turn) : of.turn }
  const shown = await conversions.run({ kind: 'show', of: shared }, { accountId: account.id })
  if (shown.kind !== 'shown') throw new Error(`a kept response was shown as ${shown.kind}`)
  return shown
}
