import '@mantine/spotlight/styles.layer.css'
import { Spotlight } from '@mantine/spotlight'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '../../parts/icon.tsx'
import { inBackground } from '../../parts/in-background.ts'
import { PAGES } from './pages.ts'
import styles from './palette.module.css'

interface PaletteProps {
  readonly onClose: () => void
}

/** Finds pages by what they are called. */
export function Palette({ onClose }: PaletteProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const wanted = query.trim().toLowerCase()
  const pages = PAGES.filter(({ name }) => t(`pages.${name}`).toLowerCase().includes(wanted))
  return (
    <Spotlight.Root
      forceOpened
      onSpotlightClose={onClose}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      lockScroll={false}
      size={560}
      yOffset={96}
      overlayProps={{ className: styles.overlay }}
      classNames={{ content: styles.content, search: styles.search, action: styles.action }}
    >
      <Spotlight.Search
        placeholder={t('frame.search')}
        aria-label={t('frame.search')}
        leftSection={<Icon name="search" />}
      />
      <Spotlight.ActionsList>
        {pages.length > 0 && (
          <Spotlight.ActionsGroup label={t('frame.pages')}>
            {pages.map(({ to, name, icon }) => (
              <Spotlight.Action
                key={to}
                label={t(`pages.${name}`)}
                leftSection={<Icon name={icon} />}
                onClick={() => {
                  onClose()
                  inBackground(navigate({ to }))
                }}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {pages.length === 0 && <Spotlight.Empty>{t('frame.nothingFound')}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
