/** What admins did: listed, exported, checked. */
import { Readable } from 'node:stream'
import * as z from 'zod'
import { accountId } from '../../../../core/ids.ts'
import type { AuditEntry, AuditFilter, AuditStore } from '../../../../storage/stores/audit.ts'
import { definePage, defineRawRoute, defineRoute, type RouteContext } from '../../define-route.ts'
import { instantText, isoTime, pageQuery } from '../../answers/wire-values.ts'
import type { Api } from '../../api-context.ts'

const TAG = 'Admin: audit'
const PATH = '/api/v1/admin/audit'
const EXPORT_PAGE_ROWS = 500

const entryShape = z.strictObject({
  sequence: z.number().int(),
  at: isoTime,
  actor: z.strictObject({
    account_id: z.string().nullable(),
    name: z.string(),
    session_id: z.string().nullable(),
    address: z.string(),
    request_id: z.string().nullable(),
  }),
  action: z.string(),
  subject: z.string(),
  changes: z.array(z.strictObject({ field: z.string(), from: z.unknown(), to: z.unknown() })),
  previous_hash: z.string(),
  hash: z.string(),
})

export function adminAuditRoutes(app: Api, context: RouteContext): void {
  listRoute(app, context)
  verifyRoute(app, context)
  exportRoute(app, context)
}

function listRoute(app: Api, context: RouteContext): void {
  const { audit } = context.storage
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List the admins’ acts, newest first',
    query: z.strictObject({
      ...pageQuery({ rowsDefault: 50, rowsMax: 200 }),
      actor: z.string().max(128).optional(),
      action: z.string().max(100).optional(),
      subject: z.string().max(512).optional(),
      from: instantText.optional(),
      to: instantText.optional(),
    }),
    row: entryShape,
    handle: async ({ query: { limit, cursor, actor, action, subject, from, to } }) => {
      const filter: AuditFilter = {
        ...(actor === undefined ? {} : { actor: accountId(actor) }),
        ...(action === undefined ? {} : { action }),
        ...(subject === undefined ? {} : { subject }),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      }
      const page = await audit.page(filter, { limit, cursor })
      return { rows: page.entries.map(viewEntry), next: page.next }
    },
  })
}

function verifyRoute(app: Api, context: RouteContext): void {
  const { audit } = context.storage
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/verify`,
    access: 'admin',
    tag: TAG,
    summary: 'Verify the chain of hashes',
    description:
      'Keep `head` somewhere else: `known_sequence` and `known_hash` then show whether the log was truncated or rewritten.',
    query: z.strictObject({
      known_sequence: z.coerce.number().int().min(1).optional(),
      known_hash: z.string().max(64).optional(),
    }),
    data: z.strictObject({
      whole: z.boolean(),
      entries: z.number().int(),
      head: z.strictObject({ sequence: z.number().int(), hash: z.string() }).nullable(),
      broken_at: z.number().int().nullable(),
      why: z.string().nullable(),
    }),
    handle: async ({ query }) => {
      const verdict = await audit.verify()
      if (verdict.kind === 'broken') {
        return { whole: false, entries: 0, head: null, broken_at: verdict.sequence, why: verdict.why }
      }
      const { entries, head = null } = verdict
      const { known_sequence: sequence, known_hash: hash } = query
      const missing = sequence !== undefined && !(await isThere(audit, sequence, hash))
      return {
        whole: !missing,
        entries,
        head,
        broken_at: missing ? sequence : null,
        why: missing ? 'the entry that was known is not there any more' : null,
      }
    },
  })
}

function exportRoute(app: Api, context: RouteContext): void {
  const { audit } = context.storage
  defineRawRoute(app, context, {
    method: 'GET',
    path: `${PATH}/export`,
    access: 'admin',
    tag: TAG,
    summary: 'Export the whole log, oldest first',
    description: 'One JSON object a line, with the hashes to check it by.',
    answer: { contentType: 'application/x-ndjson', schema: z.string() },
    handle: ({ reply }) => {
      reply.header('content-disposition', 'attachment; filename="audit.ndjson"')
      return Readable.from(lines(audit))
    },
  })
}

async function isThere(audit: AuditStore, sequence: number, hash: string | undefined): Promise<boolean> {
  const [entry] = await audit.following(sequence - 1, 1)
  return entry?.sequence === sequence && (hash === undefined || entry.hash === hash)
}

async function* lines(audit: AuditStore): AsyncGenerator<string> {
  let after = 0
  for (;;) {
    const entries = await audit.following(after, EXPORT_PAGE_ROWS)
    if (entries.length > 0) yield entries.map((entry) => `${JSON.stringify(viewEntry(entry))}\n`).join('')
    const last = entries.at(-1)
    if (last === undefined || entries.length < EXPORT_PAGE_ROWS) return
    after = last.sequence
  }
}

function viewEntry(entry: AuditEntry): z.output<typeof entryShape> {
  return {
    sequence: entry.sequence,
    at: new Date(entry.at).toISOString(),
    actor: {
      account_id: entry.actor.accountId ?? null,
      name: entry.actor.name,
      session_id: entry.actor.sessionId ?? null,
      address: entry.actor.address,
      request_id: entry.actor.requestId ?? null,
    },
    action: entry.action,
    subject: entry.subject,
    changes: entry.changes.map(({ field, from, to }) => ({ field, from, to })),
    previous_hash: entry.previousHash,
    hash: entry.hash,
  }
}
