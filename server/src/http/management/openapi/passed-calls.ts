/** Calls of wire forms that are never converted: one entry each. */
import type { JsonObject } from '../../../core/json.ts'
import { CALL_ERROR, GEMINI_ERROR } from './answers/errors.ts'
import {
  any,
  type DescribedCall,
  GENERATING,
  list,
  MODEL,
  object,
  open,
  pathParameter,
  STREAM,
  text,
  whole,
} from './call-words.ts'

const EMBED_REQUEST = {
  model: { type: 'string', description: 'The model of the path is used; this one is ignored.' },
  content: open({ parts: list(open({ text })) }, ['parts']),
  taskType: text,
  title: text,
  outputDimensionality: whole,
} as const
const EMBEDDED = open({ values: list({ type: 'number' }) }, ['values'])
const EMBED_USAGE = open({ promptTokenCount: whole })

const BINARY: JsonObject = { type: 'string', format: 'binary' }

const GENERATIONS: DescribedCall = {
  method: 'post',
  path: '/v1/images/generations',
  tag: 'Calls',
  summary: 'Create images',
  description:
    'Passed on as it is, and back, also as a stream with partial images. The images that were made are charged, or the tokens that the provider reports, or both, as the model is billed.',
  request: open(
    { model: MODEL, prompt: text, n: whole, size: text, stream: STREAM, partial_images: whole, user: text },
    ['model', 'prompt'],
  ),
  answer: open({ created: whole, data: list(open({ b64_json: text, url: text })), usage: object }, ['data']),
  event: open({ type: text, b64_json: text, usage: object }, ['type']),
  error: CALL_ERROR,
  codes: GENERATING,
}

export const PASSED_CALLS: readonly DescribedCall[] = [
  {
    method: 'post',
    path: '/v1/embeddings',
    tag: 'Calls',
    summary: 'Create embeddings',
    description:
      'Passed on as it is, and back: `dimensions` and `encoding_format` mean what they mean to the provider of the model. Input is charged, output is not.',
    request: open(
      {
        model: MODEL,
        input: {
          anyOf: [text, list(text), list(whole), list(list(whole))],
          description: 'A text, texts, or the same as numbers of tokens.',
        },
        dimensions: whole,
        encoding_format: { enum: ['float', 'base64'] },
        user: text,
      },
      ['model', 'input'],
    ),
    answer: open(
      {
        object: { const: 'list' },
        data: list(
          open({ object: text, index: whole, embedding: { anyOf: [list({ type: 'number' }), text] } }, [
            'embedding',
          ]),
        ),
        model: MODEL,
        usage: open({ prompt_tokens: whole, total_tokens: whole }),
      },
      ['data', 'model'],
    ),
    error: CALL_ERROR,
    codes: GENERATING,
  },
  embedCall('embedContent', {
    summary: 'Create one embedding, Gemini protocol',
    request: open(EMBED_REQUEST, ['content']),
    answer: open({ embedding: EMBEDDED, usageMetadata: EMBED_USAGE }, ['embedding']),
  }),
  embedCall('batchEmbedContents', {
    summary: 'Create embeddings, Gemini protocol',
    request: open({ requests: list(open(EMBED_REQUEST, ['content'])) }, ['requests']),
    answer: open({ embeddings: list(EMBEDDED), usageMetadata: EMBED_USAGE }, ['embeddings']),
  }),
  {
    method: 'post',
    path: '/v1/moderations',
    tag: 'Calls',
    summary: 'Moderate texts and images',
    description:
      'Passed on as it is, and back. `model` has to be named. Mostly charged by the call, whatever the length of the input.',
    request: open(
      {
        model: MODEL,
        input: {
          anyOf: [text, list(text), list(object)],
          description:
            'A text, texts, or parts of one message: `{type: text, text}`, `{type: image_url, image_url: {url}}`.',
        },
      },
      ['model', 'input'],
    ),
    answer: open({ id: text, model: MODEL, results: list(open({ flagged: { type: 'boolean' } })) }, [
      'results',
    ]),
    error: CALL_ERROR,
    codes: GENERATING,
  },
  ...['/v1/rerank', '/v2/rerank'].map(
    (path): DescribedCall => ({
      method: 'post',
      path,
      tag: 'Calls',
      summary: 'Rerank documents',
      description:
        'By how well they answer a query. Passed on as it is, and back, to providers of this form. A call is charged as one for each hundred documents begun, or by its tokens: the query counts with each document.',
      request: open({ model: MODEL, query: text, documents: list({ anyOf: [text, object] }), top_n: whole }, [
        'model',
        'query',
        'documents',
      ]),
      answer: open(
        {
          results: list(
            open({ index: whole, relevance_score: { type: 'number' } }, ['index', 'relevance_score']),
          ),
        },
        ['results'],
      ),
      error: CALL_ERROR,
      codes: GENERATING,
    }),
  ),
  GENERATIONS,
  imageCall('edits', 'Edit images', { prompt: text, mask: BINARY, stream: STREAM, partial_images: whole }),
  imageCall('variations', 'Create variations of an image', {}),
  {
    method: 'post',
    path: '/v1/audio/speech',
    tag: 'Calls',
    summary: 'Synthesise speech from text',
    description:
      'Passed on as it is; the sound comes back byte for byte while it is made, or as events with `stream_format: sse`. The characters of `input` are charged, or tokens, as the model is billed.',
    request: open(
      {
        model: MODEL,
        input: text,
        voice: any,
        instructions: text,
        response_format: text,
        speed: { type: 'number' },
        stream_format: { type: 'string', enum: ['audio', 'sse'] },
      },
      ['model', 'input'],
    ),
    answer: { type: 'string', format: 'binary' },
    answerType: 'audio/*',
    event: open({ type: text, audio: text, usage: object }, ['type']),
    error: CALL_ERROR,
    codes: GENERATING,
  },
  listenCall('transcriptions', 'Transcribe speech', {
    language: text,
    stream: STREAM,
    'include[]': list(text),
    'timestamp_granularities[]': list(text),
  }),
  listenCall('translations', 'Translate speech to English text', {}),
]

function imageCall(name: string, summary: string, fields: JsonObject): DescribedCall {
  const { request: _request, event, ...made } = GENERATIONS
  return {
    ...made,
    path: `/v1/images/${name}`,
    summary,
    description:
      'Passed on as it is, but for the model: a form with files, or JSON where the provider takes it. Charged like images that are made of words; at providers that have it.',
    request: open({ model: MODEL, ...fields }, ['model']),
    multipart: open({ model: MODEL, image: BINARY, n: whole, size: text, user: text, ...fields }, [
      'model',
      'image',
    ]),
    ...('stream' in fields && event !== undefined ? { event } : {}),
  }
}

function listenCall(name: string, summary: string, fields: JsonObject): DescribedCall {
  return {
    method: 'post',
    path: `/v1/audio/${name}`,
    tag: 'Calls',
    summary,
    description:
      'Passed on as it is, but for the model. How long the sound plays is measured here and charged, or tokens, as the model is billed. The answer comes in the form asked for: JSON, text, SRT, VTT or events.',
    multipart: open(
      {
        model: MODEL,
        file: BINARY,
        prompt: text,
        response_format: text,
        temperature: { type: 'number' },
        ...fields,
      },
      ['model', 'file'],
    ),
    answer: open({ text, usage: object }),
    event: open({ type: text, delta: text, text, usage: object }, ['type']),
    error: CALL_ERROR,
    codes: GENERATING,
  }
}

function embedCall(
  verb: string,
  words: Pick<DescribedCall, 'summary' | 'request' | 'answer'>,
): DescribedCall {
  return {
    method: 'post',
    path: `/v1beta/models/{model}:${verb}`,
    tag: 'Calls',
    ...words,
    description:
      'Goes over the chains of `/v1/embeddings`: as it is to a vendor that speaks it, but for the models it names, converted both ways for all others. `x-goog-api-key` is read too.',
    parameters: [pathParameter('model', 'Platform model id.')],
    error: GEMINI_ERROR,
    codes: GENERATING,
  }
}
