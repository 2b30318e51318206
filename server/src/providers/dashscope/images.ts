/**
 * Images by Qwen and Wan. Newer models answer at once, in the form of a conversation of one turn; older ones create a
 * task, which is polled until it has ended.
 */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { picturesAsked } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { GENERATION, IMAGE_TASKS, ofApi } from './address.ts'
import { errorIn, outputOf } from './answer.ts'
import { WORDS } from './failure-words.ts'
import { readTask } from './tasks.ts'

/** Models that only create tasks: Wanx, and Wan before 2.6. */
const OF_TASKS = /^(?:wanx|wan2\.[0-5]-)/

/** The vendor's own members that clients may also send. */
const PARAMETERS = {
  n: 'n',
  seed: 'seed',
  prompt_extend: 'prompt_extend',
  watermark: 'watermark',
  style: 'style',
}

/** These make four if no number is given (docs/protocols.md#images). */
const OF_FOUR = /^wan/

const rewrite: FormRewrite = {
  linkedPictures: true,
  request: ({
    model = null,
    prompt = null,
    size,
    negative_prompt: unwanted,
    response_format: format,
    ...rest
  }) => {
    const { members, dropped } = renamed(rest, PARAMETERS)
    const isUnsaid = members['n'] === undefined && typeof model === 'string' && OF_FOUR.test(model)
    const parameters = {
      ...(isUnsaid ? { n: 1 } : {}),
      ...members,
      ...(typeof size === 'string' && size !== 'auto' ? { size: size.replace('x', '*') } : {}),
    }
    const isTask = typeof model === 'string' && OF_TASKS.test(model)
    const negative = unwanted === undefined ? {} : { negative_prompt: unwanted }
    const messages = [{ role: 'user', content: [{ text: prompt }] }]
    return {
      body: isTask
        ? { model, input: { prompt, ...negative }, parameters }
        : { model, input: { messages }, parameters: { ...parameters, ...negative } },
      dropped,
      context: picturesAsked({ response_format: format }),
    }
  },
  answer: (body) => {
    const { choices, results, task_status: status } = outputOf(body)
    const error = errorIn(body) ?? (isUnmade(status) ? { code: status, message: status } : undefined)
    if (error !== undefined) return { error }
    if (isJsonArray(results)) return { data: results.map(resultOf) }
    return isJsonArray(choices) ? { data: choices.flatMap(picturesIn) } : undefined
  },
}

/** A task with this final status made nothing, with or without a reason. */
function isUnmade(status: JsonValue | undefined): status is string {
  return status === 'FAILED' || status === 'CANCELED'
}

/** One of several may fail. */
function resultOf(result: JsonValue): JsonObject {
  if (!isJsonObject(result)) return {}
  return typeof result['url'] === 'string' ? { url: result['url'] } : { error: errorIn(result) ?? null }
}

function picturesIn(choice: JsonValue): readonly JsonObject[] {
  const message = isJsonObject(choice) ? choice['message'] : undefined
  const content = isJsonObject(message) ? message['content'] : undefined
  const parts = isJsonArray(content) ? content.filter(isJsonObject) : []
  return parts.flatMap(({ image }) => (typeof image === 'string' ? [{ url: image }] : []))
}

export const dashscopeImages: PassedDialect = {
  ...passedDialect({ protocol: 'images', path: '', words: WORDS, rewrite }),
  paths: [GENERATIONS],
  form: ({ baseUrl, operation, forwardModelId }) => {
    if (operation === 'count-tokens') return undefined
    return OF_TASKS.test(forwardModelId)
      ? { method: 'POST', url: ofApi(baseUrl, IMAGE_TASKS), headers: { 'x-dashscope-async': 'enable' } }
      : { method: 'POST', url: ofApi(baseUrl, GENERATION), headers: {} }
  },
  tasks: {
    isTask: (model) => OF_TASKS.test(model),
    read: readTask,
  },
}
