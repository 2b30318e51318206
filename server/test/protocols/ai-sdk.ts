/**
 * What the providers of the Vercel AI SDK make of an answer: each holds every chunk against a schema of its own, stricter
 * than the vendors' clients. OpenCode and many editors read through them. Only tests import this file.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { argumentsObject } from '../../src/core/canonical/json-text.ts'
import type { ProtocolId } from '../../src/core/catalogue.ts'
import type { JsonObject } from '../../src/core/json.ts'

export interface Heard {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly HeardCall[]
  /** Everything the provider complained about. */
  readonly errors: readonly string[]
}

export interface HeardCall {
  readonly name: string
  readonly input: unknown
}

export interface Reader {
  readonly name: string
  readonly protocol: ProtocolId
  stream(sse: string): Promise<Heard>
  whole(body: JsonObject): Promise<Heard>
}

type Model = ReturnType<ReturnType<typeof createOpenAICompatible>>
type StreamPart =
  Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never
type ToolCall = Extract<StreamPart, { type: 'tool-call' }>
type Fetch = typeof globalThis.fetch

const OPTIONS = { apiKey: 'test', baseURL: 'http://gateway.invalid/v1' }
const QUESTION: Parameters<Model['doStream']>[0] = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
}

/** Every widely used provider, with the protocol it speaks. */
export const READERS: readonly Reader[] = [
  reader('openai.chat', 'chat', (fetch) => createOpenAI({ ...OPTIONS, fetch }).chat('platform-model')),
  reader('openai-compatible', 'chat', (fetch) =>
    createOpenAICompatible({ ...OPTIONS, name: 'gateway', fetch })('platform-model'),
  ),
  reader('openai.responses', 'responses', (fetch) =>
    createOpenAI({ ...OPTIONS, fetch }).responses('platform-model'),
  ),
  reader('anthropic', 'messages', (fetch) => createAnthropic({ ...OPTIONS, fetch })('platform-model')),
  reader('google', 'gemini', (fetch) => createGoogleGenerativeAI({ ...OPTIONS, fetch })('platform-model')),
]

function reader(name: string, protocol: ProtocolId, modelFor: (fetch: Fetch) => Model): Reader {
  return {
    name,
    protocol,
    async stream(sse) {
      const { stream } = await modelFor(answering(sse, 'text/event-stream')).doStream(QUESTION)
      return heardIn(await collected(stream))
    },
    async whole(body) {
      const { content } = await modelFor(answering(JSON.stringify(body), 'application/json')).doGenerate(
        QUESTION,
      )
      const heard = new Hearing()
      for (const part of content) {
        if (part.type === 'text') heard.text += part.text
        if (part.type === 'reasoning') heard.reasoning += part.text
        if (part.type === 'tool-call') heard.call(part)
      }
      return heard
    },
  }
}

function answering(body: string, contentType: string): Fetch {
  return () => Promise.resolve(new Response(body, { headers: { 'content-type': contentType } }))
}

class Hearing implements Heard {
  text = ''
  reasoning = ''
  readonly calls: HeardCall[] = []
  readonly errors: string[] = []

  /** What the vendor ran itself is no call to the client. */
  call({ toolName, input, providerExecuted }: ToolCall): void {
    if (providerExecuted !== true) this.calls.push({ name: toolName, input: argumentsObject(input) })
  }
}

async function collected(stream: ReadableStream<StreamPart>): Promise<readonly StreamPart[]> {
  const parts: StreamPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

function heardIn(parts: readonly StreamPart[]): Heard {
  const heard = new Hearing()
  for (const part of parts) {
    if (part.type === 'text-delta') heard.text += part.delta
    if (part.type === 'reasoning-delta') heard.reasoning += part.delta
    if (part.type === 'tool-call') heard.call(part)
    if (part.type === 'error') heard.errors.push(wordsOf(part.error))
  }
  return heard
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error)
}
