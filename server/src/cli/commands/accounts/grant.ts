import { readValue } from '../../../config/gateway-file/read-value.ts'
import { signedDecimal } from '../../../config/gateway-file/values.ts'
import type { Transfer } from '../../../core/ledger/hot-rows.ts'
import { type MicroCredits, microCredits } from '../../../core/money.ts'
import { Overdraft } from '../../../storage/failures/overdraft.ts'
import { creditsOfText, creditsText } from '../../../management/money/amounts.ts'
import { type Grant, grantCredits, grantTransfer } from '../../../management/money/grants.ts'
import { timeOrderedId } from '../../../management/new-id.ts'
import type { Storage } from '../../../storage/storage.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { accountLabel, requireAccount } from '../../find-rows.ts'
import { withStorage } from '../../with-storage.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

export interface GrantFlags {
  readonly reason?: string
  /** Booked once per id, however often the command is run. */
  readonly id?: string
  readonly json?: boolean
}

export async function grant(io: Console, reference: string, text: string, flags: GrantFlags): Promise<void> {
  const amount = creditsOf(text)
  const { account, booked } = await withStorage(io, 'refuse', async (storage) => {
    const found = await requireAccount(io, storage, reference)
    const first = await book(io, storage, { account: found, amount, flags }).catch(
      (error: unknown): never => {
        if (!(error instanceof Overdraft)) throw error
        const missing = creditsText(error.missing)
        throw new CommandFailure('mistakes', `${accountLabel(found)} lacks ${missing} Credits for that`)
      },
    )
    return { account: await requireAccount(io, storage, found.id), booked: first }
  })
  const credits = creditsText(microCredits(account.credits - account.held))
  if (flags.json === true) {
    io.out(jsonText({ account: accountLabel(account), account_id: account.id, booked, credits }))
    return
  }
  if (!booked) io.err(`the grant ${flags.id ?? ''} was booked before; nothing changed\n`)
  io.out(`${accountLabel(account)} has ${credits} Credits\n`)
}

interface Booking {
  readonly account: Account
  readonly amount: MicroCredits
  readonly flags: GrantFlags
}

/** False: it was booked before, so there is nothing to record. */
function book(io: Console, storage: Storage, { account, amount, flags }: Booking): Promise<boolean> {
  const actor = commandLineActor(io)
  const { at } = actor
  const asked = {
    accountId: account.id,
    amount,
    transactionId: `grant:${flags.id ?? timeOrderedId(at)}`,
    reference: flags.reason,
    at,
  }
  return storage.audit.act(async (stores) => {
    const booked = await grantCredits(stores, asked)
    if (!booked) await refuseOther(stores, asked)
    const changes = [
      { field: 'credits granted', from: null, to: creditsText(amount) },
      { field: 'reason', from: null, to: flags.reason ?? null },
    ]
    const act = { at, actor, action: 'account.grant', subject: account.id, changes }
    return { value: booked, act: booked ? act : undefined }
  })
}

/** Ids are unique among all grants: using one again is the same grant, or a mistake. */
async function refuseOther({ ledger }: Pick<Storage, 'ledger'>, asked: Grant): Promise<void> {
  const [first] = await ledger.transaction(asked.transactionId)
  const same = first !== undefined && isSameMovement(first, grantTransfer({ ...asked, pool: 'credits' }))
  if (!same)
    throw new CommandFailure(
      'mistakes',
      'this id was used for a grant to another account, of another amount or for another reason; nothing was changed',
    )
}

function isSameMovement(one: Transfer, other: Transfer): boolean {
  const names = ['debit', 'credit', 'amount', 'reference'] as const
  return names.every((name) => one[name] === other[name])
}

function creditsOf(text: string): ReturnType<typeof creditsOfText> {
  const result = readValue(text, signedDecimal({ decimalsMax: 6 }))
  if (result.kind === 'value' && creditsOfText(result.value) !== 0n) return creditsOfText(result.value)
  const why =
    result.kind === 'mistakes'
      ? result.mistakes.map((mistake) => mistake.message.text).join(', ')
      : 'must not be 0'
  throw new CommandFailure('mistakes', `the amount of Credits ${why}: ${text}`)
}
