/** Names say what a thing is; these words say that nobody decided (docs/style.md, Names). */
import { lineOf, syntaxOf, typescript, walk } from '../project/syntax.mjs'
import { isConsoleSource, isProductSource } from '../project/tree.mjs'

const EMPTY_WORDS = ['util', 'utils', 'helper', 'helpers', 'manager', 'common', 'misc', 'stuff']
const INSTEAD = new Map([
  ['req', 'request'],
  ['res', 'response'],
  ['resp', 'response'],
  ['msg', 'message'],
  ['msgs', 'messages'],
  ['cfg', 'config'],
  ['conf', 'config'],
  ['opts', 'options'],
  ['ctx', 'what it holds'],
  ['err', 'error'],
  ['cb', 'what it is called for'],
  ['fn', 'what it does'],
  ['tmp', 'what it holds'],
  ['arr', 'what it holds'],
  ['obj', 'what it holds'],
  ['str', 'what it says'],
  ['num', 'what it counts'],
  ['idx', 'index'],
  ['acc', 'what it adds up'],
])

export function checkNames(tree) {
  return [...fileNames(tree), ...identifiers(tree)]
}

function fileNames(tree) {
  return tree.files
    .filter((file) => !file.includes('fixtures/'))
    .filter((file) =>
      file
        .split('/')
        .some((part) => wordsOf(part.replace(/\..*$/, '')).some((word) => EMPTY_WORDS.includes(word))),
    )
    .map((file) => ({
      file,
      message: 'the file name says nothing about what is inside; name it after its main export',
    }))
}

function identifiers(tree) {
  return tree.files
    .filter((file) => isProductSource(file) || isConsoleSource(file) || /^(tools|bench)\/.*\.mjs$/.test(file))
    .flatMap((file) => {
      const source = syntaxOf(tree, file)
      const findings = []
      walk(source, (node) => {
        const name = declaredName(node)
        if (name === undefined) return
        const message = complaintAbout(name.text)
        if (message !== undefined) findings.push({ file, line: lineOf(source, name), message })
      })
      return findings
    })
}

/** The identifier that this node gives a meaning to. Fields of wire objects keep the wire's names. */
function declaredName(node) {
  const declares =
    typescript.isVariableDeclaration(node) ||
    typescript.isParameter(node) ||
    // `{ name }` takes over the name of a field, which somebody else gave.
    (typescript.isBindingElement(node) && node.propertyName !== undefined) ||
    typescript.isFunctionDeclaration(node) ||
    typescript.isClassDeclaration(node) ||
    typescript.isInterfaceDeclaration(node) ||
    typescript.isTypeAliasDeclaration(node) ||
    typescript.isMethodDeclaration(node)
  return declares && node.name !== undefined && typescript.isIdentifier(node.name) ? node.name : undefined
}

function complaintAbout(name) {
  const words = wordsOf(name)
  const empty = words.find((word) => EMPTY_WORDS.includes(word))
  if (empty !== undefined) return `"${name}" holds the empty word "${empty}"; name it by what it does`
  const short = words.find((word) => INSTEAD.has(word))
  if (short !== undefined) return `"${name}" holds "${short}"; write the whole word: ${INSTEAD.get(short)}`
  return undefined
}

const wordsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
