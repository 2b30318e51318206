/**
 * A vendor's name stands in its own folder under providers/ and nowhere else in the code: that is what keeps a new vendor
 * one folder and one line. Looked at are names and texts of the code; comments and documents may tell stories.
 */
import { lineOf, syntaxOf, typescript, walk } from '../project/syntax.mjs'
import { isProductSource } from '../project/tree.mjs'

const VENDORS = [
  'openai',
  'azure',
  'anthropic',
  'bedrock',
  'google',
  'vertex',
  'deepseek',
  'dashscope',
  'alibaba',
  'zhipu',
  'moonshot',
  'minimax',
  'xai',
  'mistral',
  'groq',
  'openrouter',
  'fireworks',
  'siliconflow',
  'ollama',
  'vllm',
  'kling',
  'vidu',
  'runway',
  'jimeng',
  'replicate',
]

/** Places where the name is a fact of something else. */
const ALLOWED = [
  { place: /^server\/src\/providers\//, reason: 'the vendors themselves, their dialects and their registry' },
  {
    place: /^server\/src\/config\/vendors\//,
    reason: 'the catalogue of the first run, which is data about vendors',
  },
  {
    place: /^server\/src\/core\/(protocols|canonical|passthrough|metering)\//,
    reason: 'a wire language carries the name of who defined it in its fields and extensions',
  },
  {
    place: /^server\/src\/http\/management\/openapi\/answers\//,
    reason: 'the same wire languages, described for the document',
  },
  {
    place: /^server\/src\/upstream\/credentials\/token-cache\.ts$/,
    reason: 'fetches the tokens of the scheme google-oauth, which has one authority',
  },
  {
    place: /^server\/src\/app\/welcome\.ts$/,
    reason: 'shows how the official clients are pointed here, by the names they have',
  },
  {
    place: /^server\/src\/management\/identity\/services\//,
    reason: 'services one may sign in through, under the names they have',
  },
  { word: /^google-oauth$/, reason: 'the name of an authentication scheme' },
  {
    word: /^(anthropic|openai|x-goog)-[a-z-]+$|^x-(anthropic|openai)-/,
    reason: 'header names that a protocol defines',
  },
]

export function checkVendorNames(tree) {
  const files = tree.files
    .filter(isProductSource)
    .filter((file) => !ALLOWED.some(({ place }) => place?.test(file)))
  return files.flatMap((file) => {
    const source = syntaxOf(tree, file)
    const findings = []
    walk(source, (node) => {
      const vendor = vendorIn(node)
      if (vendor !== undefined) {
        findings.push({
          file,
          line: lineOf(source, node),
          message: `names the vendor ${vendor}; put what differs into the vendor's folder or its dialect, as data`,
        })
      }
    })
    return findings
  })
}

function vendorIn(node) {
  if (
    !typescript.isIdentifier(node) &&
    !typescript.isStringLiteralLike(node) &&
    !typescript.isTemplateHead(node)
  )
    return undefined
  // A path of an import says where a file lies; the import rules decide about that.
  if (typescript.isStringLiteralLike(node) && typescript.isImportDeclaration(node.parent)) return undefined
  if (ALLOWED.some(({ word }) => word?.test(node.text))) return undefined
  const words = node.text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return VENDORS.find((vendor) => words.includes(vendor))
}
