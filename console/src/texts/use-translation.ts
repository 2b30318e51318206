import i18next, { type TFunction } from 'i18next'
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react'

interface Translation {
  readonly t: TFunction
  /** BCP 47 tag of the language that `t` answers in. */
  readonly language: string
}

const TranslationOfPage = createContext<Translation | undefined>(undefined)

/** Renders its children again when another language is chosen: one subscription for all components. */
export function TranslationProvider({ children }: { readonly children: ReactNode }): ReactElement {
  const language = useSyncExternalStore(subscribe, () => i18next.language)
  const translation = useMemo(() => ({ t: i18next.getFixedT(language), language }), [language])
  return createElement(TranslationOfPage, { value: translation }, children)
}

/** The texts in the chosen language, by their typed keys. */
export function useTranslation(): Translation {
  const translation = useContext(TranslationOfPage)
  if (translation === undefined) throw new Error('there is no TranslationProvider around this component')
  return translation
}

function subscribe(changed: () => void): () => void {
  i18next.on('languageChanged', changed)
  return () => i18next.off('languageChanged', changed)
}
