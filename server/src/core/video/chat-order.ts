/** A chat call to a video model as the fields of an order (docs/reference/contract.md#D-video-34). */
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { FormFields } from './form.ts'

/** Fields of the chat protocol that have no meaning for a video. */
const CHAT_FIELDS: ReadonlySet<string> = new Set([
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'modalities',
  'store',
  'metadata',
  'verbosity',
])

/** The last user message's text is the prompt, its first image the first frame; `duration` stands for `seconds`. */
export function fieldsOfChat(body: JsonObject): FormFields {
  const content = lastUserContent(body['messages'])
  const fields: Record<string, JsonValue | undefined> = {}
  for (const [name, value] of Object.entries(body)) if (!CHAT_FIELDS.has(name)) fields[name] = value
  const image = imageOf(content)
  return {
    ...fields,
    prompt: textOf(content) ?? fields['prompt'],
    ...(image === undefined || fields['input_reference'] !== undefined ? {} : { input_reference: image }),
  }
}

function lastUserContent(messages: JsonValue | undefined): JsonValue | undefined {
  if (!isList(messages)) return undefined
  for (const message of [...messages].reverse()) {
    if (isJsonObject(message) && message['role'] === 'user') return message['content']
  }
  return undefined
}

function textOf(content: JsonValue | undefined): string | undefined {
  if (typeof content === 'string') return content
  if (!isList(content)) return undefined
  const texts = content.flatMap((part) =>
    isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? [part['text']] : [],
  )
  return texts.length === 0 ? undefined : texts.join('\n')
}

function imageOf(content: JsonValue | undefined): string | undefined {
  if (!isList(content)) return undefined
  for (const part of content) {
    if (!isJsonObject(part) || part['type'] !== 'image_url') continue
    const named = part['image_url']
    const url = isJsonObject(named) ? named['url'] : named
    if (typeof url === 'string') return url
  }
  return undefined
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value)
}
