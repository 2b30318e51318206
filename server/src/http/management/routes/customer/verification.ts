import { say, type Sentence } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { verificationName } from '../../../../management/accounts/accounts.ts'
import {
  documentKey,
  newVerificationId,
  refuseSubmission,
  STATEMENT_FIELDS,
  submitVerification,
  VERIFICATION_KINDS,
  type VerificationKind,
  type VerificationRequest,
  viewVerification,
  withdrawVerification,
} from '../../../../management/accounts/verification.ts'
import { defineRawRoute, defineRoute, type RouteContext } from '../../define-route.ts'
import { DOCUMENTS_MAX, readDocumentForm, removeDocuments } from '../../requests/document-form.ts'
import { type FieldFault, refuseFields } from '../../requests/request-fields.ts'
import { DOCUMENT_ANSWER, sendDocument } from '../../answers/send-document.ts'
import { isoTime } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type VerificationContext = RouteContext & Pick<ApiContext, 'blobs'>

const TAG = 'Verification'
const PATH = '/api/v1/user/user/verification'

/** Requests the list shows: more than any account makes. */
const REQUESTS_SHOWN_MAX = 50

const requestShape = z.strictObject({
  id: z.string(),
  kind: z.enum(VERIFICATION_KINDS),
  status: z.enum(['pending', 'approved', 'rejected', 'withdrawn']),
  submitted_at: isoTime,
  decided_at: isoTime.nullable(),
  reason: z.string().nullable(),
  documents: z.array(z.strictObject({ name: z.string(), media_type: z.string(), bytes: z.number().int() })),
})
const requestParams = z.object({ id: z.string().min(1).max(128) })

/** Verification: a request with documents, decided by an admin (docs/reference/contract.md#5-49). */
export function verificationRoutes(app: Api, context: VerificationContext): void {
  // The form is read by its route, piece by piece.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))
  listing(app, context)
  submitting(app, context)
  reading(app, context)
  readingDocument(app, context)
  withdrawing(app, context)
}

function listing(app: Api, context: VerificationContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Read the account’s verification level and its requests, newest first',
    data: z.strictObject({
      verification: z.enum(['none', 'personal', 'enterprise']),
      requests: z.array(requestShape),
    }),
    handle: async ({ caller }) => {
      const account = (await storage.accounts.find(caller.account.id)) ?? caller.account
      const page = { accountId: account.id, limit: REQUESTS_SHOWN_MAX, after: undefined }
      const requests = await storage.customers.verifications.list(page)
      return {
        verification: verificationName(account.verification),
        requests: requests.map(viewVerification),
      }
    },
  })
}

/** Fields of the form, for the document; the form is read piece by piece. */
const formShape = z.object({
  kind: z.enum(VERIFICATION_KINDS),
  ...Object.fromEntries(
    [...new Set(VERIFICATION_KINDS.flatMap((kind) => STATEMENT_FIELDS[kind]))].map((name) => [
      name,
      z.string().max(1_024).optional(),
    ]),
  ),
  documents: z
    .array(z.string().meta({ format: 'binary' }))
    .min(1)
    .max(DOCUMENTS_MAX)
    .meta({ description: 'Files, under any name.' }),
})

function submitting(app: Api, context: VerificationContext): void {
  const { storage } = context
  const { blobs } = context
  const { now } = context
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'session',
    for: 'owner',
    tag: TAG,
    summary: 'Request verification',
    description:
      'A form (multipart/form-data) with `kind` (personal or enterprise), what it states (personal: legal_name, id_number; enterprise: company_name, registration_number, contact_name) and one to five documents as PDF, JPEG, PNG or WebP of at most 10 MiB each.',
    form: formShape,
    status: 201,
    errors: [40900, 41301],
    data: requestShape,
    handle: async ({ caller, request }) => {
      const account = (await storage.accounts.find(caller.account.id)) ?? caller.account
      const early = await refuseSubmission(storage, account, undefined)
      if (early !== undefined) throw refuse(early)
      const at = now()
      const id = newVerificationId(at)
      const form = await readDocumentForm(request.raw, {
        blobs,
        keyOf: (index) => documentKey(account.id, id, index),
      })
      try {
        const stated = readStatement(form.fields, form.documents.length)
        const submission = { id, ...stated, documents: form.documents, at }
        const outcome = await submitVerification(storage, account, submission)
        if (outcome.kind === 'refused') throw refuse(outcome.reason)
        return viewVerification(outcome.request)
      } catch (error) {
        await removeDocuments(blobs, form.documents)
        throw error
      }
    },
  })
}

function reading(app: Api, context: VerificationContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Read a request',
    params: requestParams,
    data: requestShape,
    handle: async ({ caller, params }) =>
      viewVerification(await requireOwn(context, caller.account.id, params.id)),
  })
}

function readingDocument(app: Api, context: VerificationContext): void {
  defineRawRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id/documents/:number`,
    access: 'session',
    for: 'owner',
    // Admins have a route of their own, which records the access.
    impersonator: 'never',
    tag: TAG,
    summary: 'Read a document of a request',
    description:
      'The bytes as they were sent, to be saved as a file. `number` counts from 1 in the order the request shows. Documents of a withdrawn request are deleted.',
    params: requestParams.extend({ number: z.coerce.number().int().min(1).max(100) }),
    answer: DOCUMENT_ANSWER,
    handle: async ({ caller, params: { id, number }, request, reply }) => {
      const document = (await requireOwn(context, caller.account.id, id)).documents[number - 1]
      if (document === undefined) throw new GatewayError(40403)
      return sendDocument(context, document, { reply, method: request.method })
    },
  })
}

function withdrawing(app: Api, context: VerificationContext): void {
  const { storage } = context
  const { blobs } = context
  const { now } = context
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'owner',
    tag: TAG,
    summary: 'Withdraw a pending request',
    params: requestParams,
    errors: [40900],
    data: requestShape,
    handle: async ({ caller, params }) => {
      const own = await requireOwn(context, caller.account.id, params.id)
      if (!(await withdrawVerification(storage, own, now())))
        throw new GatewayError(40900, { message: say('request-decided') })
      await removeDocuments(blobs, own.documents)
      return viewVerification(await requireOwn(context, caller.account.id, params.id))
    },
  })
}

/** Requests of other accounts are not found. */
async function requireOwn(
  context: Pick<ApiContext, 'storage'>,
  account: string,
  id: string,
): Promise<VerificationRequest> {
  const request = await context.storage.customers.verifications.find(id)
  if (request === undefined || request.accountId !== account) throw new GatewayError(40403)
  return request
}

interface Stated {
  readonly kind: VerificationKind
  readonly statement: Readonly<Record<string, string>>
}

function readStatement(fields: Readonly<Record<string, string>>, documents: number): Stated {
  const faults: FieldFault[] = []
  const fault = (path: string, message: Sentence) => faults.push({ in: 'body', path, message })
  const kind = VERIFICATION_KINDS.find((one) => one === fields['kind'])
  if (kind === undefined) fault('kind', say('must-be-one-of', { words: VERIFICATION_KINDS.join(', ') }))
  const wanted: readonly string[] = kind === undefined ? [] : STATEMENT_FIELDS[kind]
  for (const name of wanted) {
    const value = (fields[name] ?? '').trim()
    if (value === '') fault(name, say('missing'))
    else if (/\p{Cc}/u.test(value)) fault(name, say('no-control-characters'))
  }
  for (const name of Object.keys(fields)) {
    if (kind !== undefined && name !== 'kind' && !wanted.includes(name)) fault(name, say('unknown-field'))
  }
  if (documents === 0) fault('documents', say('documents-missing'))
  if (faults.length > 0 || kind === undefined) throw refuseFields(faults)
  return { kind, statement: Object.fromEntries(wanted.map((name) => [name, (fields[name] ?? '').trim()])) }
}

function refuse(reason: 'pending' | 'verified'): GatewayError {
  const message = say(reason === 'pending' ? 'a-request-pending' : 'already-verified')
  return new GatewayError(40900, { message })
}
