import { giveBackLimits } from '../limits/limit-state.ts'
import { settleQuota } from '../limits/quota.ts'
import { microCredits, ZERO } from '../money.ts'
import { withFunds } from './account-funds.ts'
import { accountOf, holdsCredits, memberOf } from './decide-settle.ts'
import type { Draft } from './draft.ts'
import type { AbandonOperation, DoneOutcome } from './operations.ts'

/** The second door out: the upstream never generated, so everything is given back and nothing is charged. */
export function decideAbandon(draft: Draft, operation: AbandonOperation): DoneOutcome {
  const open = draft.openCall(operation.callId)
  if (open === undefined) return { kind: 'done' }
  const { callId, accountId, held, monthHeld, memberHeld } = open
  if (holdsCredits(open)) {
    const account = accountOf(draft, open)
    const { credits, balance, monthStart, monthSpent } = account
    draft.putAccount(
      withFunds(account, {
        credits,
        balance,
        held: microCredits(account.held - held),
        monthHeld: microCredits(account.monthHeld - monthHeld),
        monthStart,
        monthSpent,
      }),
    )
    const member = memberOf(draft, open)
    if (member !== undefined) {
      draft.putMember({ ...member, monthHeld: microCredits(member.monthHeld - memberHeld) })
    }
    draft.move({ step: 'release', callId, accountId, at: operation.at, amount: held })
  }
  if (open.quotaTiers.length > 0) {
    const state = draft.limits(`quota:${accountId}`)
    draft.putLimits(
      settleQuota(state, open.quotaTiers, { held: open.quotaHeld, charged: 0n, at: operation.at }),
    )
  }
  for (const taken of open.taken) draft.putLimits(giveBackLimits(draft.limits(taken.subject), taken))
  draft.closeCall(callId)
  draft.log({ ...operation.log, amount: ZERO, deducted: ZERO, subscriptionCovered: false, capped: false })
  if (operation.task !== undefined) draft.endVideo({ ...operation.task, at: operation.at })
  return { kind: 'done' }
}
