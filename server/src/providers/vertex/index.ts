import { hostedClaudeCapabilities } from '../dialects/claude.ts'
import { geminiDialect, geminiModelCapabilities } from '../dialects/gemini.ts'
import { messagesDialect } from '../dialects/messages.ts'
import { below, type FormInput, type FormedRequest, type Provider } from '../provider.ts'

/** Gemini and Claude on Google Cloud, with a service account. `region` may be `global`, `us` or `eu`. */
export const vertex: Provider = {
  kind: 'vertex',
  name: 'Google Vertex AI',
  defaultBaseUrl: 'https://{region}-aiplatform.googleapis.com/v1',
  publicFields: ['project', 'region'],
  dialects: {
    gemini: geminiDialect({
      auth: { kind: 'google-oauth' },
      modelUrl: (input) => modelUrl(input, 'google'),
      capabilities: geminiModelCapabilities,
    }),
    messages: messagesDialect({
      auth: { kind: 'google-oauth' },
      form: formClaude,
      modelPlace: 'path',
      bodyEdit: { set: { anthropic_version: 'vertex-2023-10-16' }, remove: [] },
      capabilities: hostedClaudeCapabilities,
    }),
  },
}

/** The version stands in the body, so no header names it; counting has another form and is left to the gateway. */
function formClaude(input: FormInput): FormedRequest | undefined {
  const model = modelUrl(input, 'anthropic')
  if (model === undefined || input.operation === 'count-tokens') return undefined
  const verb = input.operation === 'stream' ? 'streamRawPredict' : 'rawPredict'
  return { method: 'POST', url: `${model}:${verb}`, headers: {} }
}

function modelUrl({ baseUrl, forwardModelId, fields }: FormInput, publisher: string): string | undefined {
  const { project, region } = fields
  if (project === undefined || region === undefined) return undefined
  const host = baseUrl.replace('{region}-aiplatform.googleapis.com', hostOf(region))
  const model = encodeURIComponent(forwardModelId).replace('%40', '@')
  return below(host, `/projects/${project}/locations/${region}/publishers/${publisher}/models/${model}`)
}

/** Regions have a host each, the whole world has the bare one, and the two multi-regions one of their own kind. */
function hostOf(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`
  return `${region}-aiplatform.googleapis.com`
}
