import type { Language } from '../../texts/languages.ts'
import { late } from './late.ts'
import { MenuButton, type MenuTrigger } from './menu-button.tsx'

const LanguageChoices = late(async () => (await import('./language-choices.tsx')).LanguageChoices)

interface LanguageMenuProps {
  /** The button that opens the menu. */
  readonly children: MenuTrigger
  /** Called once the texts of the language are shown. */
  readonly onChosen?: (language: Language) => void
}

export function LanguageMenu({ children, onChosen }: LanguageMenuProps) {
  return (
    <MenuButton button={children}>
      {(opened) => <LanguageChoices {...opened} onChosen={onChosen} />}
    </MenuButton>
  )
}
