/** Where each protocol's answers report what vendors charge for besides tokens. */
import type { ProtocolId } from '../catalogue.ts'

/** What a value found in an answer means. */
export type ExtraRole =
  | { readonly kind: 'event-type' }
  /** The end of something that may have been a tool's use, and the fields that describe it. */
  | { readonly kind: 'item' | 'item-type' | 'item-name' | 'item-action' }
  /** The end of an item where an event repeats all of them. */
  | { readonly kind: 'item-again' }
  /** An object that is one use by itself. */
  | { readonly kind: 'use'; readonly tool: string }
  /** A query of a search; a repeated query is not another search. */
  | { readonly kind: 'query'; readonly tool: string }
  /** Sources, which say that there was a search, not how many. */
  | { readonly kind: 'source'; readonly tool: string }
  /** The vendor's own count. */
  | { readonly kind: 'count'; readonly tool: string }
  | { readonly kind: 'field'; readonly field: string }

export interface ExtrasTable {
  /** Paths in an event of a stream, and in a whole body. */
  readonly stream: Readonly<Record<string, ExtraRole>>
  readonly body: Readonly<Record<string, ExtraRole>>
  /** Which items are uses of tools, and the tools' names. */
  readonly isUse: (type: string) => boolean
  readonly nameOf: (type: string, name: string | undefined) => string
  /** Events of a stream in which a use begins, and ends; absent: it does both in each. */
  readonly itemEvents?: { readonly begin: string; readonly end: string | undefined }
  /** Events whose fields count: others repeat what was asked for. Absent: all. */
  readonly fieldEvents?: ReadonlySet<string>
  /** Tools whose uses all appear in a whole answer. */
  readonly listed: readonly string[]
}

const EVENT_TYPE: ExtraRole = { kind: 'event-type' }
const ITEM: ExtraRole = { kind: 'item' }
const ITEM_TYPE: ExtraRole = { kind: 'item-type' }
const ITEM_NAME: ExtraRole = { kind: 'item-name' }
const ITEM_ACTION: ExtraRole = { kind: 'item-action' }
const field = (name: string): ExtraRole => ({ kind: 'field', field: name })
const count = (tool: string): ExtraRole => ({ kind: 'count', tool })
const source = (tool: string): ExtraRole => ({ kind: 'source', tool })

type Roles = Readonly<Record<string, ExtraRole>>

function below(prefix: string, roles: Roles): Roles {
  return Object.fromEntries(Object.entries(roles).map(([path, role]) => [`${prefix}${path}`, role]))
}

const never = (): boolean => false
const byType = (type: string): string => type

/** OpenRouter, Perplexity and xAI send counts; OpenAI sends citations, and searches once whenever it is asked to. */
const CHAT: Roles = {
  service_tier: field('service_tier'),
  'usage.server_tool_use.web_search_requests': count('web_search'),
  'usage.server_tool_use_details.web_search_requests': count('web_search'),
  'usage.server_side_tool_usage_details.web_search_calls': count('web_search'),
  'usage.num_search_queries': count('web_search'),
  'choices[].delta.annotations[].url_citation': source('web_search'),
  'choices[].message.annotations[].url_citation': source('web_search'),
  'citations[]': source('web_search'),
}

/** OpenAI counts searches next to the usage, xAI every tool inside it. */
const RESPONSE: Roles = {
  service_tier: field('service_tier'),
  'tool_usage.web_search.num_requests': count('web_search_call'),
  'usage.server_side_tool_usage_details.web_search_calls': count('web_search_call'),
  'usage.server_side_tool_usage_details.x_search_calls': count('x_search_call'),
  'usage.server_side_tool_usage_details.code_interpreter_calls': count('code_interpreter_call'),
  'usage.server_side_tool_usage_details.file_search_calls': count('file_search_call'),
  'usage.server_side_tool_usage_details.image_generation_calls': count('image_generation_call'),
  'usage.server_side_tool_usage_details.mcp_calls': count('mcp_call'),
}

const OUTPUT_ITEM: Roles = { '': ITEM, '.type': ITEM_TYPE, '.action.type': ITEM_ACTION }

const MESSAGE_USAGE: Roles = {
  'usage.service_tier': field('service_tier'),
  'usage.speed': field('speed'),
  'usage.inference_geo': field('inference_geo'),
  'usage.server_tool_use.web_search_requests': count('web_search'),
  'usage.server_tool_use.web_fetch_requests': count('web_fetch'),
}

const GENERATED: Roles = {
  'usageMetadata.trafficType': field('service_tier'),
  'usageMetadata.serviceTier': field('service_tier'),
  'candidates[].groundingMetadata.webSearchQueries[]': { kind: 'query', tool: 'web_search' },
  'candidates[].groundingMetadata.groundingChunks[].maps': source('google_maps'),
  'candidates[].content.parts[].executableCode': { kind: 'use', tool: 'code_execution' },
}

export const EXTRAS_TABLES = {
  chat: { stream: CHAT, body: CHAT, isUse: never, nameOf: byType, listed: [] },
  responses: {
    stream: {
      type: EVENT_TYPE,
      ...below('item', OUTPUT_ITEM),
      ...below('response.output[]', { ...OUTPUT_ITEM, '': { kind: 'item-again' } }),
      ...below('response.', RESPONSE),
    },
    body: { ...RESPONSE, ...below('output[]', OUTPUT_ITEM) },
    isUse: (type) => type.endsWith('_call') && !CLIENT_CALLS.has(type),
    nameOf: byType,
    itemEvents: { begin: 'response.output_item.added', end: 'response.output_item.done' },
    fieldEvents: new Set(['response.completed', 'response.incomplete', 'response.failed']),
    listed: [
      'web_search_call',
      'file_search_call',
      'code_interpreter_call',
      'image_generation_call',
      'mcp_call',
    ],
  },
  messages: {
    stream: {
      type: EVENT_TYPE,
      ...below('message.', MESSAGE_USAGE),
      ...MESSAGE_USAGE,
      content_block: ITEM,
      'content_block.type': ITEM_TYPE,
      'content_block.name': ITEM_NAME,
    },
    body: { ...MESSAGE_USAGE, 'content[]': ITEM, 'content[].type': ITEM_TYPE, 'content[].name': ITEM_NAME },
    isUse: (type) => type === 'server_tool_use' || type === 'mcp_tool_use',
    nameOf: (type, name) => (type === 'server_tool_use' ? (name ?? type) : type),
    itemEvents: { begin: 'content_block_start', end: undefined },
    listed: ['web_search', 'web_fetch', 'code_execution', 'mcp_tool_use'],
  },
  gemini: {
    stream: GENERATED,
    body: { ...GENERATED, ...below('[].', GENERATED) },
    isUse: never,
    nameOf: byType,
    listed: ['web_search', 'google_maps', 'code_execution'],
  },
} as const satisfies Record<ProtocolId, ExtrasTable>

/** Calls of tools that the client runs itself. */
const CLIENT_CALLS: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'computer_call',
  'tool_search_call',
])
