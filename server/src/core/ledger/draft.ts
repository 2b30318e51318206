import type { AccountId, CallId, MemberId } from '../ids.ts'
import { emptyState } from '../limits/limit-state.ts'
import type { Policy } from '../limits/policy.ts'
import { type TieredPolicy, tierPolicy } from '../limits/tiers.ts'
import { ZERO } from '../money.ts'
import type { TermsReader } from '../pricing/read-terms.ts'
import type {
  AccountRow,
  EndedVideo,
  HotChanges,
  HotRows,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
  Subject,
  Transfer,
} from './hot-rows.ts'
import { type Movement, transferOf } from './ledger.ts'
import type { CallLogRow } from './log-row.ts'

/** The rows of a batch, changed by its operations one after the other, and what has to be written in the end. */
export interface Draft {
  readonly reader: TermsReader
  key(id: KeyRow['id']): KeyRow | undefined
  account(id: AccountId): AccountRow | undefined
  putAccount(account: AccountRow): void
  member(id: MemberId): MemberRow | undefined
  putMember(member: MemberRow): void
  /** A subject without a row has used nothing yet. */
  limits(subject: Subject): LimitState
  putLimits(state: LimitState): void
  /** A running call. */
  openCall(id: CallId): OpenCall | undefined
  /** A call that recovery has ended. */
  recoveredCall(id: CallId): OpenCall | undefined
  putOpenCall(call: OpenCall): void
  closeCall(id: CallId): void
  /** A movement of 0 is not written. */
  move(movement: Movement): void
  log(row: CallLogRow): void
  correctLog(row: CallLogRow): void
  endVideo(video: EndedVideo): void
  tiered(policy: Policy): TieredPolicy
  changes(): HotChanges
}

export function openDraft(rows: HotRows, reader: TermsReader): Draft {
  const accounts = new Map<AccountId, AccountRow>()
  const members = new Map<MemberId, MemberRow>()
  const limitStates = new Map<Subject, LimitState>()
  const openCalls = draftOpenCalls(rows)
  const transfers: Transfer[] = []
  const logs: CallLogRow[] = []
  const logsCorrected: CallLogRow[] = []
  const videosEnded: EndedVideo[] = []
  return {
    reader,
    key: (id) => rows.keys.get(id),
    account: (id) => accounts.get(id) ?? rows.accounts.get(id),
    putAccount: (account) => void accounts.set(account.id, account),
    member: (id) => members.get(id) ?? rows.members.get(id),
    putMember: (member) => void members.set(member.id, member),
    limits: (subject) => limitStates.get(subject) ?? rows.limitStates.get(subject) ?? emptyState(subject),
    putLimits: (state) => void limitStates.set(state.subject, state),
    openCall: (id) => openCalls.find(id, 'running'),
    recoveredCall: (id) => openCalls.find(id, 'recovered'),
    putOpenCall: (call) => openCalls.put(call),
    closeCall: (id) => openCalls.close(id),
    move: (movement) => {
      if (movement.amount !== ZERO) transfers.push(transferOf(movement))
    },
    log: (row) => void logs.push(row),
    correctLog: (row) => void logsCorrected.push(row),
    endVideo: (video) => void videosEnded.push(video),
    tiered,
    changes: () => ({
      accounts: [...accounts.values()],
      members: [...members.values()],
      limitStates: [...limitStates.values()],
      transfers,
      logs,
      logsCorrected,
      videosEnded,
      ...openCalls.changes(),
    }),
  }
}

/** The open calls of a batch. */
function draftOpenCalls(rows: HotRows) {
  const changed = new Map<CallId, OpenCall | 'closed'>()
  return {
    find: (id: CallId, state: 'running' | 'recovered'): OpenCall | undefined => {
      const known = changed.get(id) ?? rows.openCalls.get(id)
      if (known === undefined || known === 'closed') return undefined
      return (known.recovered === undefined) === (state === 'running') ? known : undefined
    },
    put: (call: OpenCall) => void changed.set(call.callId, call),
    close: (id: CallId) => {
      // A call that was opened in this very batch has no row to remove.
      if (rows.openCalls.has(id)) changed.set(id, 'closed')
      else changed.delete(id)
    },
    changes: (): Pick<HotChanges, 'openCallsPut' | 'openCallsClosed'> => ({
      openCallsPut: [...changed.values()].filter((call) => call !== 'closed'),
      openCallsClosed: [...changed].filter(([, call]) => call === 'closed').map(([id]) => id),
    }),
  }
}

/** For as long as a policy is known, since most calls have the same few. */
function memoizeTiers(): Draft['tiered'] {
  const policies = new WeakMap<Policy, TieredPolicy>()
  return (policy) => {
    const known = policies.get(policy)
    if (known !== undefined) return known
    const tiered = tierPolicy(policy)
    policies.set(policy, tiered)
    return tiered
  }
}

const tiered = memoizeTiers()
