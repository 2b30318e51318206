/** Reads a stream with the official clients. Only tests import this file. */
import Anthropic from '@anthropic-ai/sdk'
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { vi } from 'vitest'

export async function accumulateChat(sse: string): Promise<OpenAI.ChatCompletion> {
  const stream = clientOf(sse).chat.completions.stream({
    model: 'platform-model',
    messages: [{ role: 'user', content: 'hello' }],
  })
  return await stream.finalChatCompletion()
}

export async function accumulateResponse(sse: string): Promise<OpenAI.Responses.Response> {
  const stream = clientOf(sse).responses.stream({ model: 'platform-model', input: 'hello' })
  return await stream.finalResponse()
}

function clientOf(sse: string): OpenAI {
  return new OpenAI({
    apiKey: 'test',
    baseURL: 'http://gateway.invalid/v1',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(sse, { headers: { 'content-type': 'text/event-stream' } })),
  })
}

export async function accumulateMessage(sse: string): Promise<Anthropic.Message> {
  const client = new Anthropic({
    authToken: 'test',
    baseURL: 'http://gateway.invalid',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(sse, { headers: { 'content-type': 'text/event-stream' } })),
  })
  const stream = client.messages.stream({
    model: 'platform-model',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'hello' }],
  })
  return await stream.finalMessage()
}

export async function collectGemini(sse: string): Promise<readonly GenerateContentResponse[]> {
  return await withGemini(sse, async (client) => {
    const chunks: GenerateContentResponse[] = []
    const stream = await client.models.generateContentStream({ model: 'platform-model', contents: 'hello' })
    for await (const chunk of stream) chunks.push(chunk)
    return chunks
  })
}

/** Google's client cannot be given a fetch, so the global one is replaced while `use` runs. */
export async function withGemini<Result>(
  body: string,
  use: (client: GoogleGenAI) => Promise<Result>,
): Promise<Result> {
  const contentType = body.startsWith('{') ? 'application/json' : 'text/event-stream'
  vi.stubGlobal('fetch', () =>
    Promise.resolve(new Response(body, { headers: { 'content-type': contentType } })),
  )
  try {
    return await use(new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: 'http://gateway.invalid' } }))
  } finally {
    vi.unstubAllGlobals()
  }
}
