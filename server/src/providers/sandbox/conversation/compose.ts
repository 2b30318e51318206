/** Decides the sandbox's answer: the same for the same request, independent of any protocol. */
import type { JsonObject } from '../../../core/json.ts'
import { object, type Prompt, type PromptTool } from './prompt.ts'
import { sampleOf } from './sample.ts'
import { countTokens, piecesOf } from '../tokens.ts'

export interface Reply {
  readonly model: string
  /** undefined: this model does not reason, or reasoning is off. */
  readonly reasoning: string | undefined
  readonly text: string
  readonly calls: readonly ReplyCall[]
  readonly finish: 'stop' | 'length' | 'tool-calls' | 'stop-sequence'
  readonly stopSequence: string | undefined
  readonly usage: ReplyUsage
}

export interface ReplyCall {
  readonly name: string
  readonly kind: PromptTool['kind']
  /** JSON text of a function's arguments, free text of a custom tool's input. */
  readonly input: string
  /** The same as an object, for protocols without free text. */
  readonly json: JsonObject
}

export interface ReplyUsage {
  readonly input: number
  /** Reasoning included. */
  readonly output: number
  readonly reasoning: number
}

/** Longest piece of a user's or tool's text that is quoted back. */
const QUOTE_CHARACTERS = 300

export function composeReply(prompt: Prompt, model: string): Reply {
  const reasoning = model.includes('reasoning') && prompt.reasoning ? reasoningAbout(prompt) : undefined
  const calls = callsFor(prompt)
  const text = calls.length > 0 ? '' : wordsFor(prompt, model)
  const stopped = cutAtStop(text, prompt.stop)
  const reasoningTokens = reasoning === undefined ? 0 : countTokens([reasoning])
  const room = (prompt.maxOutputTokens ?? Number.POSITIVE_INFINITY) - reasoningTokens
  const pieces = piecesOf(stopped.text)
  const cut = pieces.length > room
  const said = cut ? pieces.slice(0, Math.max(0, room)).join('') : stopped.text
  const output =
    reasoningTokens + countTokens([said]) + countTokens(calls.flatMap((call) => [call.name, call.input]))
  return {
    model,
    reasoning,
    text: said,
    calls,
    finish:
      calls.length > 0 ? 'tool-calls' : cut ? 'length' : stopped.at === undefined ? 'stop' : 'stop-sequence',
    stopSequence: cut ? undefined : stopped.at,
    usage: { input: Math.max(1, countTokens(prompt.read)), output, reasoning: reasoningTokens },
  }
}

function reasoningAbout(prompt: Prompt): string {
  const about =
    prompt.toolResults.length > 0 ? 'The tools have answered' : `I was asked: "${quote(prompt.lastUserText)}"`
  return `${about}. I am a sandbox and cannot really think, so I will say that and answer in one plain paragraph.`
}

function wordsFor(prompt: Prompt, model: string): string {
  const { format } = prompt
  const about = quote(prompt.lastUserText)
  switch (format.kind) {
    case 'json':
      return JSON.stringify({ sandbox: true, model, answer: about })
    case 'json-schema':
      return JSON.stringify(sampleOf(format.schema, 'sandbox'))
    case 'text':
      return sentencesFor(prompt, model, about)
  }
}

function sentencesFor(prompt: Prompt, model: string, about: string): string {
  const opening = `This is ${model}, an offline sandbox model of the gateway: no provider was called.`
  if (prompt.toolResults.length > 0) {
    const results = prompt.toolResults.map((result) => `${result.name} answered: ${quote(result.text)}`)
    return `${opening} ${results.join('\n')}`
  }
  const attached = prompt.attachments === 0 ? '' : ` Attachments: ${prompt.attachments}.`
  const tools =
    prompt.tools.length === 0
      ? ''
      : ` Tools I could call: ${prompt.tools.map((tool) => tool.name).join(', ')}.`
  return `${opening} You wrote: "${about}".${attached}${tools}`
}

/** A tool is called when the choice forces it, or when the last user text names it or asks for a tool. */
function callsFor(prompt: Prompt): readonly ReplyCall[] {
  const { tools, toolChoice } = prompt
  switch (toolChoice.kind) {
    case 'none':
      return []
    case 'tool':
      return tools.filter((tool) => tool.name === toolChoice.name).map((tool) => callOf(tool, prompt))
    case 'required': {
      const asked = askedFor(prompt)
      return (asked.length > 0 ? asked : tools.slice(0, 1)).map((tool) => callOf(tool, prompt))
    }
    case 'auto':
      return prompt.toolResults.length > 0 ? [] : askedFor(prompt).map((tool) => callOf(tool, prompt))
  }
}

function askedFor(prompt: Prompt): readonly PromptTool[] {
  const asked = prompt.lastUserText.toLowerCase()
  const named = prompt.tools.filter((tool) => {
    const name = tool.name.toLowerCase()
    return asked.includes(name) || asked.includes(name.replace(/[_-]+/g, ' '))
  })
  const found = named.length > 0 || !/\btools?\b/.test(asked) ? named : prompt.tools.slice(0, 1)
  return prompt.parallelToolCalls ? found : found.slice(0, 1)
}

function callOf(tool: PromptTool, prompt: Prompt): ReplyCall {
  const subject = quote(prompt.lastUserText) || 'sandbox'
  const { name, kind } = tool
  if (kind === 'custom') return { name, kind, input: subject, json: { input: subject } }
  const json = object(sampleOf(tool.schema ?? { type: 'object' }, subject))
  return { name, kind, input: JSON.stringify(json), json }
}

function cutAtStop(
  text: string,
  stops: readonly string[],
): { readonly text: string; readonly at: string | undefined } {
  let end = text.length
  let at: string | undefined
  for (const stop of stops) {
    const found = text.indexOf(stop)
    if (found === -1 || found >= end) continue
    end = found
    at = stop
  }
  return { text: text.slice(0, end), at }
}

function quote(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim()
  return plain.length <= QUOTE_CHARACTERS ? plain : `${plain.slice(0, QUOTE_CHARACTERS)}…`
}
