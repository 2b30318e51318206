/** What the official OpenAI client makes of a stream. Only tests import this file. */
import OpenAI from 'openai'

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
