/** Every sentence is there in every language, says the same things, and is used. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { SENTENCES } from '../../../server/src/core/sentences/sentences.ts'
import { FINDING_CODES, hasFix, holesOf, RUNNING_CHECKS } from '../../../server/src/core/running-finding.ts'
import { SECTIONS } from './sections.ts'

const SOURCES = fileURLToPath(new URL('..', import.meta.url))

type Texts = { readonly [key: string]: string | Texts }

/** All the texts of a language: those of every page, and the sections that come with theirs. */
function textsOf(language: keyof typeof SECTIONS): ReadonlyMap<string, string> {
  const sections = Object.keys(SECTIONS[language]).flatMap((section) =>
    flatten(read(`${language}/${section}.json`), `${section}.`),
  )
  return new Map([...flatten(read(`${language}.json`), ''), ...sections])
}

function read(file: string): Texts {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as Texts
}

function flatten(texts: Texts, prefix: string): readonly (readonly [string, string])[] {
  return Object.entries(texts).flatMap(([name, value]) =>
    typeof value === 'string' ? [[`${prefix}${name}`, value] as const] : flatten(value, `${prefix}${name}.`),
  )
}

const english = textsOf('en')
const chinese = textsOf('zh-CN')

/** What is put in, and what is marked. */
const holes = (text: string): readonly string[] => (text.match(/\{\{\w+\}\}|<\/?\w+>/g) ?? []).sort()

describe('the texts', () => {
  test('have the same keys in every language', () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort())
  })

  test.each([...english])('%s is told the same in every language', (key, text) => {
    // Of one there need be no number to say.
    const told = key.endsWith('_one') ? (english.get(key.replace('_one', '_other')) ?? text) : text
    expect(holes(chinese.get(key) ?? '')).toEqual(holes(told))
    expect(chinese.get(key)?.trim()).not.toBe('')
  })

  test('are Chinese where they are Chinese', () => {
    // Names and units that are the same everywhere.
    const same = [...chinese].filter(([key, text]) => english.get(key) === text && /[A-Za-z]{3}/.test(text))
    expect(same.filter(([, text]) => text !== 'Credits')).toEqual([])
  })

  test('are all used', () => {
    const code = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/\.(test|d)\.ts$/.test(name))
      .map((name) => readFileSync(join(SOURCES, name), 'utf8'))
      .join('\n')
    const unused = [...english.keys()].filter((key) => {
      const plain = key.replace(/_(one|other)$/, '')
      const group = plain.slice(0, plain.lastIndexOf('.') + 1)
      return !code.includes(`'${plain}'`) && !code.includes(`"${plain}"`) && !code.includes(`\`${group}\${`)
    })
    expect(unused).toEqual([])
  })
})

describe('what the gateway says of a mistake is told by its rule', () => {
  test('every rule has its text, in every language, and in English it is the gateway’s own', () => {
    const rules = Object.entries(SENTENCES).map(([rule, text]) => [`rules.${rule}`, text] as const)
    expect([...english].filter(([key]) => key.startsWith('rules.'))).toEqual(rules)
    expect(rules.filter(([key]) => !chinese.has(key))).toEqual([])
  })
})

describe('what the gateway finds of itself is told by its code', () => {
  test.each(FINDING_CODES)('%s', (code) => {
    const saw = english.get(`health.saw.${code}`) ?? ''
    const advice = english.get(`health.advice.${code}`)
    expect(advice !== undefined).toBe(hasFix(code))
    const put = [...new Set([...`${saw} ${advice ?? ''}`.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name))]
    expect(put.sort()).toEqual(holesOf(code))
  })

  test.each(RUNNING_CHECKS)('and the name of its check: %s', (check) => {
    expect(english.get(`health.checks.${check}`)).toBeDefined()
  })
})

/** What a page is made of, itself included: files of ours that it imports, at once or later. */
function filesOf(page: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(page)) return found
  found.add(page)
  const imports = readFileSync(page, 'utf8').matchAll(/(?:from|import)\s*\(?'(\.[^']+\.tsx?)'/g)
  // Types come from a file that is made by a build, and say nothing.
  for (const [, path = ''] of imports) if (!path.endsWith('.d.ts')) filesOf(join(dirname(page), path), found)
  return found
}

/** Sections that come with the frame of those who run the gateway, and with whatever the gateway refuses. */
const OPERATOR = ['operate']
const EVERYWHERE = ['rules']

describe('a page brings the texts that it shows', () => {
  const routes = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => /routes?\.ts$/.test(name))
    .map((name) => join(SOURCES, name))
  const pages = routes.flatMap((route) =>
    [...readFileSync(route, 'utf8').matchAll(/withTexts\(\s*\(\) => import\('([^']+)'\)([^)]*)\)/g)].map(
      ([, page = '', sections = '']) => ({
        page: join(dirname(route), page),
        brought: [...sections.matchAll(/'(\w+)'/g)].map(([, section = '']) => section),
      }),
    ),
  )

  test('and there are pages', () => {
    expect(pages.length).toBeGreaterThan(15)
  })

  test.each(pages.map((one) => [one.page.slice(SOURCES.length), one] as const))(
    '%s',
    (_name, { page, brought }) => {
      const known = [...brought, ...EVERYWHERE, ...(page.includes('/operator/') ? OPERATOR : [])]
      const shown = [...filesOf(page)].flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/\bt\(\s*['`](\w+)\./g)].map(([, section = '']) => ({
          section,
          file: file.slice(SOURCES.length),
        })),
      )
      expect(
        shown.filter(({ section }) => Object.hasOwn(SECTIONS.en, section) && !known.includes(section)),
      ).toEqual([])
    },
  )
})
