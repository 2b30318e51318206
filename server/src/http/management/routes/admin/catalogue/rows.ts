/** Rows of the catalogue over HTTP: listed, read, added, changed; each change is checked like a gateway file. */
import { say } from '../../../../../core/sentences/say.ts'
import * as z from 'zod'
import type { Catalogue } from '../../../../../core/catalogue.ts'
import { GatewayError } from '../../../../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../../../../core/json.ts'
import { type CatalogueEdit, editCatalogue } from '../../../../../management/admin/edit-catalogue.ts'
import type { FieldMistake } from '../../../../../management/keys/keys.ts'
import { defineRoute, type RouteContext } from '../../../define-route.ts'
import { refuseFields } from '../../../requests/request-fields.ts'
import { actorOf, managementOf, present, textOf, valueOf } from '../admin-route.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

export type RowsContext = RouteContext & Pick<ApiContext, 'catalogue' | 'refreshCatalogue'>

const TAG = 'Admin: catalogue'

export interface RowKind {
  /** Last part of the path, and the file's section: `vendors`. */
  readonly section: string
  /** Singular: `vendor`. */
  readonly what: 'vendor' | 'credential' | 'model' | 'group' | 'plan' | 'chain'
  /** The id in the path, for the document. */
  readonly idDescription: string
  readonly shape: z.ZodType
  readonly newBody: z.ZodType
  readonly body: z.ZodType
  /** Description of the change for the document, beyond its fields. */
  readonly changeDescription?: string
  /** The rows as shown in answers. */
  list(catalogue: Catalogue): Promise<readonly JsonObject[]> | readonly JsonObject[]
  /** A row's id, as used in the path. */
  idOf(row: JsonObject): string
  /** The existing row that a new one's body names; undefined: there is none yet. */
  idOfNew(body: JsonObject, catalogue: Catalogue): string | undefined
  /** The gateway file that writes the row; `old` is the present row. */
  fragment(
    body: JsonObject,
    old: JsonObject | undefined,
    catalogue: Catalogue,
  ): Pick<CatalogueEdit, 'fragment' | 'prefix'>
  /** Checks beyond those of the file. */
  check?(body: JsonObject, old: JsonObject | undefined, catalogue: Catalogue): readonly FieldMistake[]
  /** A change of the row's natural key, and further writes besides the catalogue. */
  more?(
    body: JsonObject,
    old: JsonObject | undefined,
  ): Pick<CatalogueEdit, 'move' | 'more' | 'moreDifferences'>
  /** Called after it was written and the catalogue was read again. */
  written?(body: JsonObject, id: string): Promise<void>
}

const idParams = z.object({ id: z.string().min(1).max(512) })

/** What the routes of one kind share. */
interface Rows {
  readonly app: Api
  readonly context: RowsContext
  readonly kind: RowKind
  readonly path: string
}

export function defineRows(app: Api, context: RowsContext, kind: RowKind): void {
  const rows: Rows = { app, context, kind, path: `/api/v1/admin/${kind.section}` }
  listRoute(rows)
  readRoute(rows)
  addRoute(rows)
  changeRoute(rows)
}

function listRoute({ app, context, kind, path }: Rows): void {
  const shape = z.array(kind.shape)
  defineRoute(app, context, {
    method: 'GET',
    path,
    access: 'admin',
    tag: TAG,
    summary: `List ${kind.section}`,
    data: shape,
    handle: async () => shape.parse(await kind.list(context.catalogue())),
  })
}

function readRoute(rows: Rows): void {
  const { app, context, kind, path } = rows
  defineRoute(app, context, {
    method: 'GET',
    path: `${path}/:id`,
    access: 'admin',
    tag: TAG,
    summary: `Read a ${kind.what}`,
    description: kind.idDescription,
    params: idParams,
    data: kind.shape,
    handle: ({ params }) => show(rows, params.id),
  })
}

function addRoute(rows: Rows): void {
  const { app, context, kind, path } = rows
  defineRoute(app, context, {
    method: 'POST',
    path,
    access: 'admin',
    tag: TAG,
    summary: `Add a ${kind.what}`,
    body: kind.newBody,
    status: 201,
    errors: [40900],
    data: kind.shape,
    handle: async ({ body, caller, request }) => {
      const form = jsonOf(body)
      await context.refreshCatalogue()
      const catalogue = context.catalogue()
      const known = kind.idOfNew(form, catalogue)
      if (known !== undefined)
        throw new GatewayError(40900, {
          message: say('row-exists', {
            what: say(`word-${kind.what}`),
            path,
            known: encodeURIComponent(known),
          }),
        })
      const row = { body: form, old: undefined, id: undefined, catalogue }
      return show(rows, await write(rows, row, { caller, request }))
    },
  })
}

function changeRoute(rows: Rows): void {
  const { app, context, kind, path } = rows
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${path}/:id`,
    access: 'admin',
    tag: TAG,
    summary: `Change a ${kind.what}`,
    description: [
      kind.idDescription,
      'Fields that are absent stay as they are. 40900 where another request changes the same at the same time.',
      kind.changeDescription ?? '',
    ]
      .join(' ')
      .trim(),
    params: idParams,
    body: kind.body,
    errors: [40900],
    data: kind.shape,
    handle: async ({ params: { id }, body, caller, request }) => {
      await context.refreshCatalogue()
      const catalogue = context.catalogue()
      const old = present(await find(rows, id, catalogue))
      return show(rows, await write(rows, { body: jsonOf(body), old, id, catalogue }, { caller, request }))
    },
  })
}

async function find({ kind }: Rows, id: string, catalogue: Catalogue): Promise<JsonObject | undefined> {
  return (await kind.list(catalogue)).find((row) => kind.idOf(row) === id)
}

async function show(rows: Rows, id: string): Promise<unknown> {
  return rows.kind.shape.parse(present(await find(rows, id, rows.context.catalogue())))
}

interface RowToWrite {
  readonly body: JsonObject
  readonly old: JsonObject | undefined
  /** undefined: it is new. */
  readonly id: string | undefined
  /** The catalogue with the old row. */
  readonly catalogue: Catalogue
}

/** Returns the row's id. */
async function write(
  { context, kind }: Rows,
  { body, old, id: oldId, catalogue }: RowToWrite,
  who: Parameters<typeof actorOf>[1],
): Promise<string> {
  const mistakes = kind.check?.(body, old, catalogue) ?? []
  if (mistakes.length > 0) throw refuseFields(mistakes.map((mistake) => ({ in: 'body', ...mistake })))
  const edit: CatalogueEdit = {
    base: catalogue,
    ...kind.fragment(body, old, catalogue),
    action: `${kind.what}.${old === undefined ? 'create' : 'change'}`,
    subject: oldId ?? nameOfNew(body),
    ...kind.more?.(body, old),
  }
  valueOf(await editCatalogue(managementOf(context), edit, actorOf(context, who)))
  await context.refreshCatalogue()
  const id = oldId ?? kind.idOfNew(body, context.catalogue())
  if (id === undefined) throw new Error(`a new ${kind.what} was written and is not there`)
  await kind.written?.(body, id)
  return id
}

/** Name for the audit log of a row that has no id before it is written. */
function nameOfNew(body: JsonObject): string {
  return ['vendor', 'model_id', 'code', 'name']
    .map((member) => textOf(body, member))
    .filter((text) => text !== '')
    .join(' / ')
}

/** A checked body is a JSON object. */
function jsonOf(body: unknown): JsonObject {
  return body as JsonObject
}
