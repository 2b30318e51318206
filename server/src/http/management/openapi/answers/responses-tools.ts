/** Tools as a response repeats them from its request. */
import type { JsonObject } from '../../../../core/json.ts'
import {
  among,
  anyJson,
  anyObject,
  closed,
  count,
  decimal,
  described,
  either,
  flag,
  list,
  mapOf,
  maybe,
  named,
  text,
  typed,
  whole,
} from './words.ts'

/** Tools define their own parameters: the schema is the client's. */
const parameters = described('A JSON Schema, as the client sent it.', maybe(anyObject))

const callers = maybe(list(among('direct', 'programmatic')))

const functionTool = typed(
  'function',
  { name: text, parameters },
  {
    description: maybe(text),
    strict: maybe(flag),
    output_schema: parameters,
    allowed_callers: callers,
    async: flag,
    defer_loading: flag,
  },
)

const customTool = typed(
  'custom',
  { name: text },
  {
    description: maybe(text),
    format: either(typed('text'), typed('grammar', { syntax: among('lark', 'regex'), definition: text })),
    allowed_callers: callers,
    defer_loading: flag,
  },
)

const location = closed(
  { type: among('approximate') },
  { city: maybe(text), country: maybe(text), region: maybe(text), timezone: maybe(text) },
)

const webSearchWords = {
  search_context_size: among('low', 'medium', 'high'),
  user_location: maybe(location),
  filters: maybe(closed({}, { allowed_domains: maybe(list(text)), excluded_domains: maybe(list(text)) })),
  allowed_domains: maybe(list(text)),
  excluded_domains: maybe(list(text)),
  external_web_access: flag,
  search_content_types: list(text),
  return_token_budget: text,
  enable_image_understanding: flag,
}
const webSearch = closed(
  {
    type: among('web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11'),
  },
  webSearchWords,
)

const filter = either(
  closed({
    type: among('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'),
    key: text,
    value: either(text, decimal, flag, list(either(text, decimal))),
  }),
  closed({ type: among('and', 'or'), filters: list(named('FileFilter')) }),
)

const toolChoice = closed({}, { tool_names: list(text), read_only: flag })

const networkPolicy = either(
  typed('disabled'),
  typed('allowlist', { allowed_domains: list(text) }, { domain_secrets: list(anyObject) }),
)
const container = { file_ids: list(text), memory_limit: maybe(text), network_policy: networkPolicy }

const hostedTools = [
  webSearch,
  typed(
    'file_search',
    { vector_store_ids: list(text) },
    {
      filters: maybe(named('FileFilter')),
      max_num_results: maybe(count),
      ranking_options: maybe(
        closed(
          {},
          {
            ranker: text,
            score_threshold: decimal,
            hybrid_search: maybe(closed({ embedding_weight: decimal, text_weight: decimal })),
          },
        ),
      ),
    },
  ),
  typed(
    'code_interpreter',
    {},
    { container: either(text, typed('auto', {}, container)), allowed_callers: callers },
  ),
  typed(
    'image_generation',
    {},
    {
      action: text,
      background: text,
      complexity: text,
      frame_count: count,
      frame_duration_ms: count,
      input_fidelity: maybe(text),
      input_image_mask: maybe(closed({}, { file_id: text, image_url: text })),
      model: text,
      moderation: text,
      n: count,
      output_compression: count,
      output_format: text,
      partial_images: count,
      quality: text,
      size: text,
      svg: anyObject,
    },
  ),
  typed(
    'mcp',
    { server_label: text },
    {
      server_url: text,
      server_description: maybe(text),
      allowed_tools: maybe(either(list(text), toolChoice)),
      allowed_callers: callers,
      authorization: maybe(text),
      connector_id: text,
      defer_loading: flag,
      headers: maybe(mapOf(text)),
      require_approval: maybe(
        either(among('always', 'never'), closed({}, { always: toolChoice, never: toolChoice })),
      ),
      tunnel_id: text,
    },
  ),
  typed(
    'shell',
    {},
    {
      environment: maybe(
        either(
          typed('local', {}, { skills: list(anyObject) }),
          typed('container_auto', {}, { ...container, skills: list(anyObject) }),
          typed('container_reference', { container_id: text }),
        ),
      ),
      allowed_callers: callers,
    },
  ),
  typed('local_shell'),
  typed('apply_patch', {}, { allowed_callers: callers }),
  typed('programmatic_tool_calling'),
  typed('tool_search', {}, { description: maybe(text), execution: text, parameters }),
  closed({ type: among('computer', 'computer_use') }, { environment: text }),
  typed('computer_use_preview', { display_width: whole, display_height: whole, environment: text }),
  typed(
    'x_search',
    {},
    {
      allowed_x_handles: list(text),
      excluded_x_handles: list(text),
      from_date: text,
      to_date: text,
      enable_image_understanding: flag,
      enable_video_understanding: flag,
    },
  ),
  typed('code_execution'),
  typed('collections_search', {}, { collection_ids: list(text), limit: count }),
]

const tool = either(
  functionTool,
  customTool,
  typed(
    'namespace',
    { name: text, tools: list(either(functionTool, customTool)) },
    { description: maybe(text) },
  ),
  ...hostedTools,
)

const byName = (...types: readonly string[]): JsonObject => closed({ type: among(...types), name: text })

const choice = either(
  among('auto', 'none', 'required'),
  byName('function', 'custom'),
  typed('mcp', { server_label: text }, { name: maybe(text) }),
  typed('allowed_tools', {
    mode: among('auto', 'required'),
    tools: list(closed({ type: text }, { name: text, server_label: text })),
  }),
  closed({
    type: among(
      'apply_patch',
      'code_interpreter',
      'computer',
      'computer_use',
      'computer_use_preview',
      'file_search',
      'image_generation',
      'programmatic_tool_calling',
      'shell',
      'web_search',
      'web_search_preview',
      'web_search_preview_2025_03_11',
    ),
  }),
)

export const TOOLS: JsonObject = {
  ResponseTool: described('A tool of the request.', tool),
  FileFilter: described('Which files are searched.', filter),
}

export const RESPONSE_TOOLS = list(named('ResponseTool'))
export const RESPONSE_TOOL_CHOICE = choice
/** A vendor's own tools list their parameters. */
export const LISTED_TOOLS = list(
  closed({ name: text, input_schema: anyObject }, { description: maybe(text), annotations: maybe(anyJson) }),
)
