/** Exports what is stored as a gateway file, and applies such a file after a preview of its changes. */
import { sentenceForm } from '../../../../../core/sentences/say.ts'
import * as z from 'zod'
import { exportGatewayFile } from '../../../../../management/gateway-file/export-gateway-file.ts'
import {
  applyReviewedFile,
  type FileRequest,
  type FileReview,
  reviewFile,
} from '../../../../../management/admin/apply-file.ts'
import { defineRawRoute, defineRoute, type RouteContext } from '../../../define-route.ts'
import type { ApiContext, Api } from '../../../api-context.ts'
import { actorOf, managementOf, valueOf } from '../admin-route.ts'

type GatewayFileContext = RouteContext & Pick<ApiContext, 'now' | 'storage' | 'refreshCatalogue'>

const PATH = '/api/v1/admin/gateway-file'
const TAG = 'Admin: catalogue'
/** Fits into a body of the management API, including JSON escapes. */
const FILE_CHARACTERS_MAX = 900_000

const reviewShape = z.strictObject({
  mode: z.enum(['dry-run', 'applied']),
  review: z.string().meta({ description: 'Send it back to apply exactly these differences.' }),
  differences: z.array(
    z.strictObject({
      action: z.enum(['create', 'change', 'disable', 'remove', 'grant']),
      what: z.string().meta({ description: 'vendor, credential, model, chain, …' }),
      name: z.string(),
      fields: z.array(z.strictObject({ field: z.string(), from: z.unknown(), to: z.unknown() })),
    }),
  ),
  warnings: z.array(
    z.strictObject({
      line: z.number().int(),
      column: z.number().int(),
      path: z.string(),
      message: z.string(),
      rule: z.string().meta({ description: 'Stable; the message is its English sentence.' }),
      values: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  new_keys: z
    .array(z.strictObject({ account: z.string(), name: z.string(), key: z.string() }))
    .meta({ description: 'New keys without a fixed secret: shown now and never again.' }),
})

const TYPES = { yaml: 'application/yaml', json: 'application/json' } as const
const FORMATS = ['yaml', 'json'] as const

export function adminGatewayFileRoutes(app: Api, context: GatewayFileContext): void {
  exportRoute(app, context)
  applyRoute(app, context)
}

function exportRoute(app: Api, context: GatewayFileContext): void {
  const { storage, now } = context
  defineRawRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'Export what is stored as a gateway file',
    description:
      'What `sluice export` writes: settings, catalogue and accounts, without secrets. Applying it where it came from ' +
      'changes nothing.',
    query: z.strictObject({ format: z.enum(FORMATS).default('yaml') }),
    answer: {
      contentType: TYPES.yaml,
      otherSchemas: { [TYPES.json]: z.record(z.string(), z.unknown()) },
      schema: z.string(),
    },
    handle: async ({ query: { format }, request, reply }) => {
      reply.type(TYPES[format])
      reply.header('content-disposition', `attachment; filename="gateway.${format}"`)
      // HEAD needs no rows, so none is read.
      return request.method === 'HEAD' ? '' : exportGatewayFile(storage, { format, at: now() })
    },
  })
}

function applyRoute(app: Api, context: GatewayFileContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'Apply a gateway file',
    description:
      'What `sluice apply` does. Without `review` nothing changes: the answer holds the differences and their `review`. ' +
      'With it exactly these are applied. `missing: prune` switches off what the sections of the file leave out. No ' +
      'variable is taken from the environment of the gateway.',
    body: z.strictObject({
      file: z.string().min(1).max(FILE_CHARACTERS_MAX).meta({ description: 'YAML or JSON.' }),
      missing: z.enum(['stays', 'prune']).default('stays'),
      review: z.string().max(128).optional(),
    }),
    errors: [40900],
    showsSecret: true,
    data: reviewShape,
    handle: async ({ body: { file, missing, review }, caller, request }) => {
      const wanted: FileRequest = { text: file, missing }
      const actor = actorOf(context, { caller, request })
      const parts = managementOf(context)
      if (review === undefined) return viewReview('dry-run', valueOf(await reviewFile(parts, wanted, actor)))
      const applied = valueOf(await applyReviewedFile(parts, { ...wanted, review }, actor))
      await context.refreshCatalogue()
      return viewReview('applied', applied)
    },
  })
}

function viewReview(
  mode: z.output<typeof reviewShape>['mode'],
  { review, differences, warnings, newKeys }: FileReview,
): z.output<typeof reviewShape> {
  return {
    mode,
    review,
    differences: differences.map(({ fields, ...difference }) => ({
      ...difference,
      fields: fields.map(({ field, from, to }) => ({ field, from: from ?? null, to })),
    })),
    warnings: warnings.map(({ place: { line, column, path }, message }) => ({
      line,
      column,
      path,
      message: message.text,
      ...sentenceForm(message),
    })),
    new_keys: newKeys.map(({ account, name, plaintext }) => ({ account, name, key: plaintext.unwrap() })),
  }
}
