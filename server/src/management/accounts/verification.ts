/**
 * Verification requests: submitted with documents, decided by an admin, effective at once
 * (docs/reference/contract.md#5-49).
 */
import type { AccountId } from '../../core/ids.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { VerificationDocument, VerificationRequest } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { verificationLevel } from './accounts.ts'
import { timeOrderedId } from '../new-id.ts'
import type { Account } from '../../storage/stores/accounts.ts'

export type { VerificationRequest } from '../../storage/stores/customers.ts'

export const VERIFICATION_KINDS = ['personal', 'enterprise'] as const
export type VerificationKind = (typeof VERIFICATION_KINDS)[number]

/** The required statements, by kind; nothing else is accepted. */
export const STATEMENT_FIELDS = {
  personal: ['legal_name', 'id_number'],
  enterprise: ['company_name', 'registration_number', 'contact_name'],
} as const satisfies Record<VerificationKind, readonly string[]>

export interface Submission {
  readonly id: string
  readonly kind: VerificationKind
  readonly statement: Readonly<Record<string, string>>
  readonly documents: readonly VerificationDocument[]
  readonly at: number
}

export type SubmissionOutcome =
  | { readonly kind: 'submitted'; readonly request: VerificationRequest }
  | { readonly kind: 'refused'; readonly reason: 'pending' | 'verified' }

export const newVerificationId = (at: number): string => `ver_${timeOrderedId(at)}`

/** Key of a request's document; never derived from the uploaded file name. */
export function documentKey(account: AccountId, id: string, index: number): string {
  return `verification/${account}/${id}/${index}`
}

/** Called before documents are read, so that a request that will be refused needs no upload. */
export async function refuseSubmission(
  storage: Pick<Storage, 'customers'>,
  account: Account,
  kind: VerificationKind | undefined,
): Promise<'pending' | 'verified' | undefined> {
  if (kind !== undefined && account.verification >= verificationLevel(kind)) return 'verified'
  const [pending] = await storage.customers.verifications.list({
    accountId: account.id,
    status: 'pending',
    limit: 1,
    after: undefined,
  })
  return pending === undefined ? undefined : 'pending'
}

export async function submitVerification(
  storage: Pick<Storage, 'customers'>,
  account: Account,
  submission: Submission,
): Promise<SubmissionOutcome> {
  const refused = await refuseSubmission(storage, account, submission.kind)
  if (refused !== undefined) return { kind: 'refused', reason: refused }
  const request: VerificationRequest = {
    id: submission.id,
    accountId: account.id,
    kind: submission.kind,
    status: 'pending',
    submittedAt: submission.at,
    decidedAt: undefined,
    decidedBy: undefined,
    reason: undefined,
    statement: submission.statement,
    documents: submission.documents,
  }
  try {
    await storage.customers.verifications.submit(request)
  } catch (error) {
    if (error instanceof StorageConflict) return { kind: 'refused', reason: 'pending' }
    throw error
  }
  return { kind: 'submitted', request }
}

export interface Verdict {
  readonly id: string
  readonly verdict: 'approved' | 'rejected'
  /** Account id of the admin. */
  readonly by: string
  /** Shown to the person; a rejection should have one. */
  readonly reason: string | undefined
  readonly at: number
}

/**
 * An admin's decision. An approval raises the account to the requested level in the same transaction, so it applies to
 * the next call on every instance; it never lowers a level. undefined: there is no such request, or it was decided
 * already.
 */
export async function decideVerification(
  storage: Pick<Storage, 'customers' | 'accounts'>,
  { id, verdict, by, reason, at }: Verdict,
): Promise<VerificationRequest | undefined> {
  const request = await storage.customers.verifications.find(id)
  if (request === undefined || request.status !== 'pending') return undefined
  const account = await storage.accounts.find(request.accountId)
  const asked = verificationLevel(request.kind)
  const raises = verdict === 'approved' && (account?.verification ?? 0) < asked
  const decision = { id, status: verdict, by, reason, at, level: raises ? asked : undefined }
  const decided = await storage.customers.verifications.decide(decision)
  return decided ? storage.customers.verifications.find(id) : undefined
}

/** Withdrawn by the person. False: it is no longer pending. */
export function withdrawVerification(
  storage: Pick<Storage, 'customers'>,
  request: Pick<VerificationRequest, 'id' | 'accountId'>,
  at: number,
): Promise<boolean> {
  const { id, accountId } = request
  const withdrawn = {
    id,
    status: 'withdrawn',
    by: accountId,
    reason: undefined,
    at,
    level: undefined,
  } as const
  return storage.customers.verifications.decide(withdrawn)
}

export interface VerificationView {
  readonly id: string
  readonly kind: VerificationKind
  readonly status: VerificationRequest['status']
  readonly submitted_at: string
  readonly decided_at: string | null
  readonly reason: string | null
  readonly documents: readonly {
    readonly name: string
    readonly media_type: string
    readonly bytes: number
  }[]
}

/** The owner's view, without the statements. */
export function viewVerification(request: VerificationRequest): VerificationView {
  return {
    id: request.id,
    kind: request.kind,
    status: request.status,
    submitted_at: new Date(request.submittedAt).toISOString(),
    decided_at: request.decidedAt === undefined ? null : new Date(request.decidedAt).toISOString(),
    reason: request.reason ?? null,
    documents: request.documents.map(({ name, mediaType, bytes }) => ({
      name,
      media_type: mediaType,
      bytes,
    })),
  }
}
