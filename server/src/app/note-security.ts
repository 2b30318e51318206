/** Sources of security events that do not belong to another module. */
import type { AuditedAct } from '../storage/stores/audit.ts'
import type { Storage } from '../storage/storage.ts'
import type { SecurityLog } from '../telemetry/security-log.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** The same store; reports each entry of its audit log as a security event once it is stored. */
export function noteAudit(storage: Storage, security: SecurityLog): Storage {
  const { audit } = storage
  return {
    ...storage,
    audit: {
      ...audit,
      async act(work) {
        let done: AuditedAct | undefined
        const value = await audit.act(async (stores) => {
          const worked = await work(stores)
          // The last run is the stored one.
          done = worked.act
          return worked
        })
        if (done !== undefined) noteEntry(security, done)
        return value
      },
      async record(act) {
        await audit.record(act)
        noteEntry(security, act)
      },
    },
  }
}

function noteEntry(security: SecurityLog, { actor, action, subject }: AuditedAct): void {
  const who = { actor: actor.accountId ?? actor.name, address: actor.address, session: actor.sessionId }
  security.note('audit.entry', { action, subject, ...who, request: actor.requestId })
  if (action === 'account.impersonate') security.note('impersonation.begun', { account: subject, ...who })
}

/** @param what the source of the address: `a call`, `an alert` */
export function noteForbidden<Answer extends { readonly kind: string }>(
  { security }: Pick<Telemetry, 'security'>,
  what: string,
  answer: Answer,
): Answer {
  if (answer.kind === 'refused' && 'reason' in answer && answer.reason === 'forbidden')
    security.note('address.refused', { of: what })
  return answer
}
