/** The official clients, asked the same questions in their own words, and what each heard. */
import Anthropic from '@anthropic-ai/sdk'
import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai'
import OpenAI from 'openai'
import type { Protocol } from './cells.ts'
import {
  type Driver,
  type Failure,
  type Heard,
  PARAMETERS,
  PDF,
  PICTURE_URL,
  PIXEL,
  type Question,
  RESULT,
  SCHEMA,
} from './question.ts'

export function drivers(address: {
  readonly baseUrl: string
  readonly key: string
}): Readonly<Record<Protocol, Driver>> {
  const openai = new OpenAI({ apiKey: address.key, baseURL: `${address.baseUrl}/v1`, maxRetries: 0 })
  const anthropic = new Anthropic({
    authToken: address.key,
    apiKey: null,
    baseURL: address.baseUrl,
    maxRetries: 0,
  })
  const google = new GoogleGenAI({ apiKey: address.key, httpOptions: { baseUrl: address.baseUrl } })
  return {
    chat: chat(openai),
    responses: responses(openai),
    messages: messages(anthropic),
    gemini: gemini(google),
  }
}

export function failureOf(error: unknown): Failure {
  const status =
    error instanceof OpenAI.APIError || error instanceof Anthropic.APIError || error instanceof ApiError
      ? error.status
      : undefined
  return { status, message: error instanceof Error ? error.message : String(error) }
}

function chat(client: OpenAI): Driver {
  const bodyOf = (model: string, asked: Question): OpenAI.ChatCompletionCreateParamsNonStreaming => ({
    model,
    messages: chatMessages(asked),
    ...(asked.tools === true
      ? { tools: [{ type: 'function', function: { name: 'weather', parameters: { ...PARAMETERS } } }] }
      : {}),
    ...(asked.effort === true ? { reasoning_effort: 'high' } : {}),
    ...(asked.stop === undefined ? {} : { stop: [...asked.stop] }),
    ...(asked.maxTokens === undefined ? {} : { max_completion_tokens: asked.maxTokens }),
    ...(asked.json === 'mode' ? { response_format: { type: 'json_object' } } : {}),
    ...(asked.json === 'schema'
      ? { response_format: { type: 'json_schema', json_schema: { name: 'weather', schema: { ...SCHEMA } } } }
      : {}),
  })
  const heard = (answer: OpenAI.ChatCompletion, pieces: number): Heard => {
    const [choice] = answer.choices
    const message = choice?.message
    const details: unknown = message
    return {
      text: message?.content ?? '',
      thought: textIn(details, 'reasoning_content'),
      calls: (message?.tool_calls ?? []).flatMap((call) =>
        call.type === 'function'
          ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
          : [],
      ),
      end: choice?.finish_reason ?? '',
      refused: (message?.refusal ?? '') !== '' || choice?.finish_reason === 'content_filter',
      usage: {
        input: answer.usage?.prompt_tokens ?? 0,
        cached: answer.usage?.prompt_tokens_details?.cached_tokens ?? 0,
        output: answer.usage?.completion_tokens ?? 0,
      },
      pieces,
      raw: [message],
    }
  }
  return {
    ask: async (model, asked) => heard(await client.chat.completions.create(bodyOf(model, asked)), 1),
    async stream(model, asked) {
      let pieces = 0
      const stream = client.chat.completions
        .stream({ ...bodyOf(model, asked), stream: true, stream_options: { include_usage: true } })
        .on('content', () => {
          pieces += 1
        })
      return heard(await stream.finalChatCompletion(), pieces)
    },
  }
}

function chatMessages(asked: Question): OpenAI.ChatCompletionMessageParam[] {
  const { system, before, previous } = asked
  const content: OpenAI.ChatCompletionContentPart[] = [
    { type: 'text', text: asked.text },
    ...(asked.image === true ? [{ type: 'image_url' as const, image_url: { url: PICTURE_URL } }] : []),
    ...(asked.file === true
      ? [
          {
            type: 'file' as const,
            file: { filename: 'paper.pdf', file_data: `data:application/pdf;base64,${PDF}` },
          },
        ]
      : []),
  ]
  return [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    ...(before === undefined
      ? []
      : [
          { role: 'user' as const, content: before.question },
          { role: 'assistant' as const, content: before.answer },
        ]),
    { role: 'user', content: content.length === 1 ? asked.text : content },
    ...((previous?.raw ?? []) as OpenAI.ChatCompletionMessageParam[]),
    ...(previous?.calls ?? []).map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: RESULT,
    })),
    ...(asked.next === undefined ? [] : [{ role: 'user' as const, content: asked.next }]),
  ]
}

function responses(client: OpenAI): Driver {
  const bodyOf = (model: string, asked: Question): OpenAI.Responses.ResponseCreateParamsNonStreaming => ({
    model,
    store: false,
    input: responsesItems(asked),
    ...(asked.system === undefined ? {} : { instructions: asked.system }),
    ...(asked.tools === true
      ? { tools: [{ type: 'function', name: 'weather', parameters: { ...PARAMETERS }, strict: false }] }
      : {}),
    ...(asked.effort === true
      ? { reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] }
      : {}),
    ...(asked.maxTokens === undefined ? {} : { max_output_tokens: asked.maxTokens }),
    ...(asked.json === 'mode' ? { text: { format: { type: 'json_object' } } } : {}),
    ...(asked.json === 'schema'
      ? { text: { format: { type: 'json_schema', name: 'weather', schema: { ...SCHEMA } } } }
      : {}),
  })
  const heard = (answer: OpenAI.Responses.Response, pieces: number): Heard => {
    if (answer.status === 'failed') throw new Error(answer.error?.message ?? 'failed')
    const { output, usage } = answer
    const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
    return {
      text: parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
      thought: output
        .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
        .map(({ text }) => text)
        .join(''),
      calls: output.flatMap((item) =>
        item.type === 'function_call'
          ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) as unknown }]
          : [],
      ),
      end: answer.incomplete_details?.reason ?? answer.status ?? '',
      refused:
        parts.some(({ type }) => type === 'refusal') ||
        answer.incomplete_details?.reason === 'content_filter',
      usage: {
        input: usage?.input_tokens ?? 0,
        cached: usage?.input_tokens_details.cached_tokens ?? 0,
        output: usage?.output_tokens ?? 0,
      },
      pieces,
      raw: output,
    }
  }
  return {
    ask: async (model, asked) => heard(await client.responses.create(bodyOf(model, asked)), 1),
    async stream(model, asked) {
      let pieces = 0
      const stream = client.responses
        .stream({ ...bodyOf(model, asked), stream: true })
        .on('response.output_text.delta', () => {
          pieces += 1
        })
      return heard(await stream.finalResponse(), pieces)
    },
  }
}

function responsesItems(asked: Question): OpenAI.Responses.ResponseInputItem[] {
  const { before, previous } = asked
  const output =
    asked.pictureResult === true
      ? [{ type: 'input_image' as const, image_url: PICTURE_URL, detail: 'auto' as const }]
      : RESULT
  return [
    ...(before === undefined
      ? []
      : [
          { role: 'user' as const, content: before.question },
          { role: 'assistant' as const, content: before.answer },
        ]),
    {
      role: 'user',
      content: [
        { type: 'input_text', text: asked.text },
        ...(asked.image === true
          ? [{ type: 'input_image' as const, image_url: PICTURE_URL, detail: 'auto' as const }]
          : []),
        ...(asked.file === true
          ? [
              {
                type: 'input_file' as const,
                filename: 'paper.pdf',
                file_data: `data:application/pdf;base64,${PDF}`,
              },
            ]
          : []),
      ],
    },
    ...((previous?.raw ?? []) as OpenAI.Responses.ResponseInputItem[]),
    ...(previous?.calls ?? []).map(({ id }) => ({
      type: 'function_call_output' as const,
      call_id: id,
      output,
    })),
    ...(asked.next === undefined ? [] : [{ role: 'user' as const, content: asked.next }]),
  ]
}

function messages(client: Anthropic): Driver {
  const bodyOf = (model: string, asked: Question): Anthropic.MessageCreateParamsNonStreaming => ({
    model,
    max_tokens: asked.maxTokens ?? 4_000,
    messages: anthropicMessages(asked),
    ...(asked.system === undefined ? {} : { system: asked.system }),
    ...(asked.tools === true
      ? { tools: [{ name: 'weather', input_schema: { ...PARAMETERS, required: [...PARAMETERS.required] } }] }
      : {}),
    ...(asked.effort === true ? { thinking: { type: 'enabled', budget_tokens: 2_000 } } : {}),
    ...(asked.stop === undefined ? {} : { stop_sequences: [...asked.stop] }),
    ...(asked.json === 'schema'
      ? { output_config: { format: { type: 'json_schema', schema: { ...SCHEMA } } } }
      : {}),
  })
  const heard = ({ content, stop_reason, usage }: Anthropic.Message, pieces: number): Heard => ({
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thought: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    end: stop_reason ?? '',
    refused: stop_reason === 'refusal',
    usage: {
      input:
        usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      cached: usage.cache_read_input_tokens ?? 0,
      output: usage.output_tokens,
    },
    pieces,
    raw: [{ role: 'assistant', content }],
  })
  return {
    ask: async (model, asked) => heard(await client.messages.create(bodyOf(model, asked)), 1),
    async stream(model, asked) {
      let pieces = 0
      const stream = client.messages.stream(bodyOf(model, asked)).on('text', () => {
        pieces += 1
      })
      return heard(await stream.finalMessage(), pieces)
    },
  }
}

function anthropicMessages(asked: Question): Anthropic.MessageParam[] {
  const { before, previous } = asked
  const picture = {
    type: 'image' as const,
    source: { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL },
  }
  const results = (previous?.calls ?? []).map(({ id }) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: asked.pictureResult === true ? [picture] : RESULT,
  }))
  const then = [
    ...results,
    ...(asked.next === undefined ? [] : [{ type: 'text' as const, text: asked.next }]),
  ]
  return [
    ...(before === undefined
      ? []
      : [
          { role: 'user' as const, content: before.question },
          { role: 'assistant' as const, content: before.answer },
        ]),
    {
      role: 'user',
      content: [
        { type: 'text', text: asked.text },
        ...(asked.image === true ? [picture] : []),
        ...(asked.file === true
          ? [
              {
                type: 'document' as const,
                source: { type: 'base64' as const, media_type: 'application/pdf' as const, data: PDF },
              },
            ]
          : []),
      ],
    },
    ...((previous?.raw ?? []) as Anthropic.MessageParam[]),
    ...(then.length === 0 ? [] : [{ role: 'user' as const, content: then }]),
  ]
}

function gemini(client: GoogleGenAI): Driver {
  const bodyOf = (model: string, asked: Question) => ({
    model,
    contents: geminiContents(asked),
    config: {
      ...(asked.system === undefined ? {} : { systemInstruction: asked.system }),
      ...(asked.tools === true
        ? { tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: PARAMETERS }] }] }
        : {}),
      ...(asked.effort === true ? { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 } } : {}),
      ...(asked.stop === undefined ? {} : { stopSequences: [...asked.stop] }),
      ...(asked.maxTokens === undefined ? {} : { maxOutputTokens: asked.maxTokens }),
      ...(asked.json === undefined ? {} : { responseMimeType: 'application/json' }),
      ...(asked.json === 'schema' ? { responseJsonSchema: SCHEMA } : {}),
    },
  })
  return {
    ask: async (model, asked) => heardFromGemini([await client.models.generateContent(bodyOf(model, asked))]),
    async stream(model, asked) {
      const chunks: GenerateContentResponse[] = []
      for await (const chunk of await client.models.generateContentStream(bodyOf(model, asked)))
        chunks.push(chunk)
      return heardFromGemini(chunks)
    },
  }
}

function heardFromGemini(chunks: readonly GenerateContentResponse[]): Heard {
  const parts: Part[] = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
  const end =
    chunks.map((chunk) => chunk.candidates?.[0]?.finishReason).findLast((reason) => reason !== undefined) ??
    ''
  const usage = chunks.map(({ usageMetadata }) => usageMetadata).findLast((counts) => counts !== undefined)
  const texts = parts.filter((part) => part.thought !== true && (part.text ?? '') !== '')
  return {
    text: texts.map(({ text }) => text).join(''),
    thought: parts.map((part) => (part.thought === true ? (part.text ?? '') : '')).join(''),
    calls: parts.flatMap(({ functionCall }) =>
      functionCall === undefined
        ? []
        : [{ id: functionCall.id ?? '', name: functionCall.name ?? '', input: functionCall.args }],
    ),
    end,
    refused:
      end === 'SAFETY' || chunks.some(({ promptFeedback }) => promptFeedback?.blockReason !== undefined),
    usage: {
      input: usage?.promptTokenCount ?? 0,
      cached: usage?.cachedContentTokenCount ?? 0,
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    },
    pieces: texts.length,
    raw: [{ role: 'model', parts }],
  }
}

function geminiContents(asked: Question): Content[] {
  const { before, previous } = asked
  const picture: Part = { inlineData: { mimeType: 'image/png', data: PIXEL } }
  const results = (previous?.calls ?? []).map(
    ({ id, name }): Part => ({
      functionResponse: {
        ...(id === '' ? {} : { id }),
        name,
        response: { output: RESULT },
        ...(asked.pictureResult === true
          ? { parts: [{ inlineData: { mimeType: 'image/png', data: PIXEL } }] }
          : {}),
      },
    }),
  )
  const then: Part[] = [...results, ...(asked.next === undefined ? [] : [{ text: asked.next }])]
  return [
    ...(before === undefined
      ? []
      : [
          { role: 'user', parts: [{ text: before.question }] },
          { role: 'model', parts: [{ text: before.answer }] },
        ]),
    {
      role: 'user',
      parts: [
        { text: asked.text },
        ...(asked.image === true ? [picture] : []),
        ...(asked.file === true ? [{ inlineData: { mimeType: 'application/pdf', data: PDF } }] : []),
      ],
    },
    ...((previous?.raw ?? []) as Content[]),
    ...(then.length === 0 ? [] : [{ role: 'user', parts: then }]),
  ]
}

function textIn(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null || !(name in value)) return ''
  const found: unknown = Object.entries(value).find(([key]) => key === name)?.[1]
  return typeof found === 'string' ? found : ''
}
