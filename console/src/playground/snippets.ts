/** Snippets of exactly this request, for curl and the vendors' Python libraries. */
import { formFieldsOf, isRecord, type Json, type JsonRecord } from '../parts/values/json.ts'
import type { Files, WireRequest } from './kinds/kind.ts'

export function curlOf({ path, body, files }: WireRequest, baseUrl: string): string {
  if (files !== undefined) return curlOfForm({ path, body, files }, baseUrl)
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)
  return `curl '${baseUrl}${path}' \\
  -H "Authorization: Bearer $SLUICE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${json}'`
}

function curlOfForm({ path, body, files }: Required<WireRequest>, baseUrl: string): string {
  const fields = [
    ...formFieldsOf(body).map((field) => field.join('=')),
    ...Object.entries(files).map(([name, file]) => `${name}=@${file.name}`),
  ]
  return `curl '${baseUrl}${path}' \\
  -H "Authorization: Bearer $SLUICE_KEY" \\
${fields.map((field) => `  -F '${field.replaceAll("'", `'\\''`)}'`).join(' \\\n')}`
}

/** `end`: code that uses the answer; absent: it is printed. */
export const openAiSnippet =
  (method: string, end?: string) =>
  ({ body, files = {} }: WireRequest, baseUrl: string): string =>
    `import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["SLUICE_KEY"])
answer = client.${method}(
${argumentsOf(body)}${openedFiles(files)}
)
${end ?? told(body)}`

export function cohereSnippet({ body }: WireRequest, baseUrl: string): string {
  return `import os
import cohere

client = cohere.ClientV2(base_url="${baseUrl}", api_key=os.environ["SLUICE_KEY"])
answer = client.rerank(
${argumentsOf(body)}
)
${told(body)}`
}

export function anthropicSnippet({ body }: WireRequest, baseUrl: string): string {
  return `import os
from anthropic import Anthropic

client = Anthropic(base_url="${baseUrl}", auth_token=os.environ["SLUICE_KEY"])
answer = client.messages.create(
${argumentsOf(body)}
)
${told(body)}`
}

/** The library takes everything but the conversation in one argument. */
export function googleSnippet({ path, body }: WireRequest, baseUrl: string): string {
  const [, model = '', method = ''] = /models\/([^:]+):(\w+)/.exec(path) ?? []
  const { contents, generationConfig, ...others } = body
  const config = { ...(isRecord(generationConfig) ? generationConfig : {}), ...others }
  const stream = method === 'streamGenerateContent'
  const given = {
    model: decodeURIComponent(model),
    contents,
    ...(Object.keys(config).length === 0 ? {} : { config }),
  }
  return `import os
from google import genai

client = genai.Client(
    api_key=os.environ["SLUICE_KEY"],
    http_options={"base_url": "${baseUrl}"},
)
answer = client.models.${stream ? 'generate_content_stream' : 'generate_content'}(
${argumentsOf(given)}
)
${told({ stream })}`
}

function openedFiles(files: Files): string {
  return Object.entries(files)
    .map(([name, file]) => `\n    ${name}=open(${JSON.stringify(file.name)}, "rb"),`)
    .join('')
}

const told = ({ stream }: JsonRecord): string =>
  stream === true ? 'for event in answer:\n    print(event)' : 'print(answer)'

function argumentsOf(body: JsonRecord): string {
  return Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `    ${name}=${python(value ?? null, 4)},`)
    .join('\n')
}

/** A value as Python code. */
function python(value: Json, indent: number): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  // JSON strings are valid Python strings: the escapes are the same.
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = ' '.repeat(indent + 4)
  const rows = isRecord(value)
    ? Object.entries(value).map(
        ([name, each]) => `${JSON.stringify(name)}: ${python(each ?? null, indent + 4)}`,
      )
    : value.map((each) => python(each, indent + 4))
  const [open, close] = isRecord(value) ? (['{', '}'] as const) : (['[', ']'] as const)
  if (rows.length === 0) return `${open}${close}`
  return `${open}\n${rows.map((row) => `${inner}${row},\n`).join('')}${' '.repeat(indent)}${close}`
}
