/** The languages of the console and how one is chosen. Only the chosen one is loaded. */
import i18next from 'i18next'
import type english from './en.json'
import { SECTIONS, type Section, type SectionTexts } from './sections.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    readonly resources: { readonly translation: typeof english & SectionTexts }
    readonly returnNull: false
  }
}

export const LANGUAGES = {
  en: { label: 'English', load: () => import('./en.json') },
  'zh-CN': { label: '简体中文', load: () => import('./zh-CN.json') },
} as const

export type Language = keyof typeof LANGUAGES

/** A zero-width character that keeps two characters from being read as one mark. */
const JOINER = '\u2060'
/** Where a browser keeps the language that was chosen in it. */
export const LANGUAGE_KEY = 'sluice-language'

/** The sections that were requested so far. */
const needed = new Set<Section>()

export function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(LANGUAGES, tag)
}

/** Whether the person has chosen a language in this browser. */
export function hasChosenLanguage(): boolean {
  return localStorage.getItem(LANGUAGE_KEY) !== null
}

/** The language chosen in this browser, else the browser's preferred one. */
export function preferredLanguage(): Language {
  const stored = localStorage.getItem(LANGUAGE_KEY)
  if (stored !== null && isLanguage(stored)) return stored
  for (const tag of navigator.languages) {
    if (tag.toLowerCase().startsWith('zh')) return 'zh-CN'
    if (tag.toLowerCase().startsWith('en')) return 'en'
  }
  return 'en'
}

let started: Promise<void> | undefined

/** Started once; everybody who needs the texts awaits the same promise. */
export function startTexts(): Promise<void> {
  started ??= readTexts(preferredLanguage())
  return started
}

async function readTexts(language: Language): Promise<void> {
  const texts = await LANGUAGES[language].load()
  await i18next.init({
    lng: language,
    resources: { [language]: { translation: texts.default } },
    // Every key exists in every language: a test compares them.
    fallbackLng: false,
    // Values are plain text: a name cannot be read as a mark of a sentence (`parts/marks/marked.tsx`).
    interpolation: { escape: (text) => text.replace(/<(?=\/?b>)/g, `<${JOINER}`) },
  })
  document.documentElement.lang = language
}

/** Loads a page together with its sections of the texts. */
export async function withTexts<Page>(
  load: () => Promise<Page>,
  ...sections: readonly Section[]
): Promise<Page> {
  const [page] = await Promise.all([load(), loadTexts(...sections)])
  return page
}

/** Loads these sections, also after a change of the language. */
export async function loadTexts(...sections: readonly Section[]): Promise<void> {
  for (const section of sections) needed.add(section)
  await addSections(currentLanguage(), sections)
}

/** Changes the language and stores the choice in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(LANGUAGE_KEY, language)
  await showPreferredLanguage()
}

/** Also called when a language was chosen in another tab of this browser. */
export async function showPreferredLanguage(): Promise<void> {
  await startTexts()
  const language = preferredLanguage()
  if (i18next.language === language) return
  const [texts] = await Promise.all([LANGUAGES[language].load(), addSections(language, [...needed])])
  // Another one was chosen while this one was loaded.
  if (preferredLanguage() !== language) return
  i18next.addResourceBundle(language, 'translation', texts.default, true)
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

async function addSections(language: Language, sections: readonly Section[]): Promise<void> {
  await Promise.all(
    sections.map(async (section) => {
      const [texts] = await Promise.all([SECTIONS[language][section](), startTexts()])
      i18next.addResourceBundle(language, 'translation', { [section]: texts.default }, true)
    }),
  )
}

function currentLanguage(): Language {
  return isLanguage(i18next.language) ? i18next.language : preferredLanguage()
}
