/** The lane of a form to a vendor that takes a document in its place: text fields and files become that document. */
import { formatDropped } from '../../core/protocols/dropped-fields.ts'
import type { FormRewrite, PassedDialect } from '../../providers/provider.ts'
import type { ReservedCall } from '../call.ts'
import { type LegUpstream, uploadsOf, upstreamOf } from '../attempt/dialect.ts'
import type { Leg } from '../attempt/leg.ts'
import { rewriteBody } from './edit-body.ts'
import { refusalOf } from './refusal.ts'
import { type OpenedLane, unconvertible } from './lane-target.ts'
import { openRewritten, type PassthroughLaneParts, type Rewritten } from './passthrough-lane.ts'
import { isNear } from './threads/conversions.ts'
import { sentFiles } from './threads/read-form.ts'
import type { FormBytes, ReadForm } from './threads/work.ts'

export type FormDialect = PassedDialect & { readonly rewrite: FormRewrite }

type Form = NonNullable<ReservedCall['scan']['form']>

export function openFormLane(
  pipeline: PassthroughLaneParts,
  call: ReservedCall,
  target: { readonly leg: Leg; readonly dialect: FormDialect; readonly form: Form },
): OpenedLane | Promise<OpenedLane> {
  const { leg, dialect, form } = target
  const read = readForm(form, call.scan.soundSeconds)
  const why = refusalOf(read, dialect, { model: leg.chain.forwardModelId, path: call.endpoint.path })
  if (why !== undefined) return unconvertible(why)
  const openOn = (rewritten: Rewritten): OpenedLane => ({
    kind: 'open',
    lane: openRewritten(pipeline, call, { leg, dialect }, withUnread(rewritten, form)),
  })
  const size = { bytes: call.body.length, values: call.scan.values }
  const bytes = { head: Buffer.concat(call.body.chunks), descriptor: call.body.descriptor }
  // What is put elsewhere is not read here.
  const isElsewhere = uploadsOf(dialect, leg.chain.forwardModelId) !== undefined
  if (!isElsewhere && !isNear(size)) return rewrittenFar(pipeline, call, { leg, read, bytes }).then(openOn)
  const openNear = (): OpenedLane => openOn(rewrittenNear(read, bytes, target))
  return isElsewhere ? openNear() : (pipeline.conversions.turn(size)?.then(openNear) ?? openNear())
}

/** Of several fields with one name the last counts. */
function readForm({ fields, files }: Pick<Form, 'fields' | 'files'>, soundSeconds = 0): ReadForm {
  const plain = [...fields].map(([name, value]) => [name.replace(/\[\d*\]$/, ''), value] as const)
  return { fields: Object.fromEntries(plain), files, soundSeconds }
}

function rewrittenNear(
  read: ReadForm,
  bytes: FormBytes,
  { leg, dialect }: { readonly leg: Leg; readonly dialect: FormDialect },
): Rewritten {
  const { forwardModelId } = leg.chain
  const { body, ...rest } = rewriteBody(read.fields, dialect, forwardModelId, sentFiles(read, bytes))
  const written = Buffer.from(JSON.stringify(body))
  return { ...rest, body: { chunks: [written], length: written.byteLength } }
}

async function rewrittenFar(
  { conversions }: Pick<PassthroughLaneParts, 'conversions'>,
  call: ReservedCall,
  { leg, read, bytes }: { readonly leg: Leg; readonly read: ReadForm; readonly bytes: FormBytes },
): Promise<Rewritten> {
  holdDocument(call)
  const result = await conversions.run(
    {
      kind: 'form',
      ...bytes,
      form: read,
      vendorKind: upstreamOf(leg, call.catalogue).vendor.kind,
      protocol: call.endpoint.protocol,
      forwardModelId: leg.chain.forwardModelId,
    },
    { accountId: call.account.id },
  )
  if (result.kind !== 'edited') throw new Error(`a form was written anew as ${result.kind}`)
  const { body, dropped, context } = result
  return { dropped, context, body: { chunks: [body], length: body.byteLength } }
}

/** Base64 takes four bytes for three. Only one attempt at a time has a document, so it is counted once. */
function holdDocument({ body }: ReservedCall): void {
  if (body.memo.documentHeld === true) return
  body.hold(Math.ceil(body.length / 3) * 4)
  body.memo.documentHeld = true
}

function withUnread(rewritten: Rewritten, { unread }: Form): Rewritten {
  if (unread.length === 0) return rewritten
  return { ...rewritten, dropped: [...rewritten.dropped, ...formatDropped(unread)] }
}

/** The vendor accepts documents in place of forms. */
export function takesDocuments(dialect: LegUpstream['dialect']): dialect is FormDialect {
  return 'rewrite' in dialect && dialect.rewrite !== undefined
}
