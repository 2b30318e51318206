import { Menu } from '@mantine/core'
import { chooseLanguage, isLanguage, LANGUAGES, type Language } from '../../texts/languages.ts'
import { Icon } from '../marks/icon.tsx'
import { inBackground } from './in-background.ts'
import type { Opened } from './menu-button.tsx'
import { OpenedMenu } from './opened-menu.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

interface LanguageChoicesProps extends Opened {
  /** Called once the texts of the language are shown. */
  readonly onChosen: ((language: Language) => void) | undefined
}

export function LanguageChoices({ onChosen, ...opened }: LanguageChoicesProps) {
  const { language } = useTranslation()
  return (
    <OpenedMenu {...opened}>
      {Object.entries(LANGUAGES).map(([tag, { label }]) => (
        <Menu.Item
          key={tag}
          lang={tag}
          rightSection={tag === language ? <Icon name="check" size={14} /> : undefined}
          onClick={() => {
            if (isLanguage(tag)) inBackground(chooseLanguage(tag).then(() => onChosen?.(tag)))
          }}
        >
          {label}
        </Menu.Item>
      ))}
    </OpenedMenu>
  )
}
