import { Menu } from '@mantine/core'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { chooseLanguage, isLanguage, LANGUAGES, type Language } from '../../texts/languages.ts'
import { Icon } from '../marks/icon.tsx'
import { inBackground } from './in-background.ts'

interface LanguageMenuProps {
  /** What opens it. */
  readonly children: ReactElement
  /** Told once the console speaks the language. */
  readonly onChosen?: (language: Language) => void
}

export function LanguageMenu({ children, onChosen }: LanguageMenuProps) {
  const { i18n } = useTranslation()
  return (
    <Menu>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        {Object.entries(LANGUAGES).map(([tag, { label }]) => (
          <Menu.Item
            key={tag}
            lang={tag}
            rightSection={tag === i18n.language ? <Icon name="check" size={14} /> : undefined}
            onClick={() => {
              if (isLanguage(tag)) inBackground(chooseLanguage(tag).then(() => onChosen?.(tag)))
            }}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
