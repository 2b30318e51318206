/** Which fields of a request are watched, as one table per form. */
import type { ProtocolId } from '../../catalogue.ts'
import { compileWatchTree, type WatchNode } from '../watch-tree.ts'
import { REQUEST_FIELDS, type RequestRole } from './request-fields.ts'

/** A field's watch number is its role's index here. */
export const ROLES: readonly RequestRole[] = [
  'root',
  'model',
  'model-resource',
  'stream',
  'user',
  'user-holder',
  'user-inside',
  'output-cap',
  'caps-holder',
  'output-cap-inside',
  'candidates',
  'candidates-most',
  'candidates-open',
  'candidates-inside',
  'previous-response',
  'store',
  'background',
  'stream-options',
  'include-usage',
  'message',
  'item-type',
  'item-role',
  'item-id',
  'media',
  'item',
  'repeated',
  'spoken',
  'extra-cost-field',
  'tool',
  'tool-type',
  'tool-uses',
  'tool-uses-cap',
  'hosted-tool',
  'unseen-input',
  'content-type',
]

const WANTED: ReadonlySet<RequestRole> = new Set([
  'model',
  'user',
  'user-inside',
  'output-cap',
  'output-cap-inside',
  'candidates',
  'candidates-most',
  'candidates-open',
  'candidates-inside',
  'previous-response',
  'spoken',
  'stream-options',
  'item-type',
  'item-id',
  'extra-cost-field',
  'tool-type',
  'tool-uses',
  'tool-uses-cap',
  'content-type',
])

/**
 * Roles whose fields are distinguished by the last part of their path; their watch numbers follow those of the roles.
 */
const NAMED: ReadonlySet<RequestRole> = new Set(['extra-cost-field', 'hosted-tool'])

export const NAMED_FIELDS: readonly { readonly role: RequestRole; readonly name: string }[] = Object.values(
  REQUEST_FIELDS,
).flatMap((fields) =>
  Object.entries(fields)
    .filter(([, role]) => NAMED.has(role))
    .map(([path, role]) => ({ role, name: nameOf(path) })),
)

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function watchOf(path: string, role: RequestRole): number {
  if (!NAMED.has(role)) return ROLES.indexOf(role)
  const name = nameOf(path)
  return ROLES.length + NAMED_FIELDS.findIndex((field) => field.role === role && field.name === name)
}

/** What is read from the requests of one wire form. */
export interface RequestForm {
  readonly tree: WatchNode
  /** Where a request names its model. */
  readonly modelPlace: 'body' | 'path'
}

/** Roles whose fields have names of known protocols are not available to other forms. */
export type FormRole = Exclude<RequestRole, 'root' | 'extra-cost-field' | 'hosted-tool'>

/** A form with the model in the body. */
export function requestForm(fields: Readonly<Record<string, FormRole>>): RequestForm {
  return { tree: treeOf(fields, { looksAlike: true }), modelPlace: 'body' }
}

/** A form with the model in the path and case-sensitive names. */
export function pathRequestForm(fields: Readonly<Record<string, FormRole>>): RequestForm {
  return { tree: treeOf(fields, { looksAlike: false }), modelPlace: 'path' }
}

function treeOf(
  fields: Readonly<Record<string, RequestRole>>,
  options: { readonly looksAlike: boolean },
): WatchNode {
  const paths = Object.entries(fields).map(([path, role]) => ({
    path,
    watch: watchOf(path, role),
    wanted: WANTED.has(role),
  }))
  const root = { path: '', watch: ROLES.indexOf('root'), wanted: false }
  return compileWatchTree([root, ...paths], options)
}

export const REQUEST_FORMS: Readonly<Record<ProtocolId, RequestForm>> = {
  chat: requestFormOf('chat'),
  responses: requestFormOf('responses'),
  messages: requestFormOf('messages'),
  // Google's servers are case-sensitive.
  gemini: { tree: treeOf(REQUEST_FIELDS.gemini, { looksAlike: false }), modelPlace: 'path' },
}

function requestFormOf(protocol: ProtocolId): RequestForm {
  return { tree: treeOf(REQUEST_FIELDS[protocol], { looksAlike: true }), modelPlace: 'body' }
}
