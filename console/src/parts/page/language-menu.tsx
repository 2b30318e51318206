import type { Language } from '../../texts/languages.ts'
import { late } from './late.ts'
import { MenuButton, type MenuTrigger } from './menu-button.tsx'

const LanguageChoices = late(async () => (await import('./language-choices.tsx')).LanguageChoices)

interface LanguageMenuProps {
  /** What opens it. */
  readonly children: MenuTrigger
  /** Told once the console speaks the language. */
  readonly onChosen?: (language: Language) => void
}

export function LanguageMenu({ children, onChosen }: LanguageMenuProps) {
  return (
    <MenuButton button={children}>
      {(opened) => <LanguageChoices {...opened} onChosen={onChosen} />}
    </MenuButton>
  )
}
