import { decideBatch } from '../../core/calls/decide.ts'
import type { HotRows, Subject } from '../../core/ledger/hot-rows.ts'
import type { ReserveOutcome } from '../../core/ledger/operations.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AdmittedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { reservation } from './reserve.ts'

export type DecideDryParts = Pick<Pipeline, 'instanceId' | 'monthOf' | 'terms'> & {
  readonly storage: {
    readonly customers: Pick<Storage['customers'], 'limits'>
    readonly organisations: Pick<Storage['organisations'], 'callingMember'>
  }
}

/** The reservation decided on the call's own copy of account and key, outside any lock; its changes are discarded. */
export async function decideDry(parts: DecideDryParts, call: AdmittedCall): Promise<ReserveOutcome> {
  const subjects: Subject[] = [`key:${call.key.id}`, `account:${call.account.id}`, `quota:${call.account.id}`]
  const { memberId } = call.key
  const member = memberId && (await parts.storage.organisations.callingMember(memberId))
  if (member !== undefined) subjects.push(`member:${member.id}`)
  const rows: HotRows = {
    keys: new Map([[call.key.id, call.key]]),
    members: new Map(member && [[member.id, member]]),
    accounts: new Map([[call.account.id, call.account]]),
    limitStates: await parts.storage.customers.limits.read(subjects),
    openCalls: new Map(),
  }
  const operation = { ...reservation(parts, call, call.endpoint.kind), kind: 'reserve' as const }
  const [outcome] = decideBatch(rows, [operation], parts.terms).outcomes
  if (outcome?.kind === 'reserved' || outcome?.kind === 'refused') return outcome
  throw new Error('a reservation was answered with something else')
}
