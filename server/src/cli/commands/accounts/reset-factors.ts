import { resetFactors } from '../../../management/identity/factors/reset-factors.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { accountLabel, requireAccount } from '../../find-rows.ts'
import { withStorage } from '../../with-storage.ts'

export interface ResetFactorsFlags {
  readonly reason: string
  readonly json?: boolean
}

/** For an administrator who lost every second factor when administrators must have one. */
export async function resetFactorsOf(
  io: Console,
  reference: string,
  flags: ResetFactorsFlags,
): Promise<void> {
  const account = await withStorage(io, 'refuse', async (storage) => {
    const found = await requireAccount(io, storage, reference)
    const outcome = await resetFactors({ storage }, found.id, flags.reason, commandLineActor(io))
    if (outcome.kind === 'conflict')
      throw new CommandFailure('failed', `${accountLabel(found)}: ${outcome.message.text}`)
    return found
  })
  if (flags.json === true) io.out(jsonText({ account: accountLabel(account), account_id: account.id }))
  else io.out(`${accountLabel(account)} has no second factor any more, and its sessions have ended\n`)
}
