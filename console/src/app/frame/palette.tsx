import '@mantine/spotlight/styles.layer.css'
import { Spotlight } from '@mantine/spotlight'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { usePerson } from '../../api/session.ts'
import { Icon, Sign } from '../../parts/marks/icon.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { OPERATOR_PAGES } from './operator-pages.ts'
import { PAGES } from './pages.ts'
import styles from './palette.module.css'
import { type Found, useFound } from './use-found.ts'
import { useTranslation } from '../../texts/use-translation.ts'

type Address = (typeof PAGES | typeof OPERATOR_PAGES)[number]['to']

const SIGNS = { keys: 'key', models: 'models', calls: 'calls', accounts: 'person' } as const

interface PaletteProps {
  readonly onClose: () => void
}

/** Finds pages, keys and models by name, and calls by id. */
export function Palette({ onClose }: PaletteProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const wanted = query.trim().toLowerCase()
  const { role } = usePerson()
  const fits = (name: string): boolean => name.toLowerCase().includes(wanted)
  const pages = PAGES.filter(({ name }) => fits(t(`pages.${name}`)))
  const operating =
    role === 'admin' ? OPERATOR_PAGES.filter(({ name }) => fits(t(`operate.pages.${name}`))) : []
  const found = useFound(wanted)
  const open = (to: Address): void => {
    onClose()
    inBackground(navigate({ to }))
  }
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
                onClick={() => open(to)}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        <OperatorActions pages={operating} onOpen={open} />
        <FoundActions found={found} onOpen={onClose} />
        {pages.length + operating.length + found.length === 0 && (
          <Spotlight.Empty>{t('frame.nothingFound')}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

interface OperatorActionsProps {
  readonly pages: readonly (typeof OPERATOR_PAGES)[number][]
  readonly onOpen: (to: Address) => void
}

function OperatorActions({ pages, onOpen }: OperatorActionsProps) {
  const { t } = useTranslation()
  if (pages.length === 0) return null
  return (
    <Spotlight.ActionsGroup label={t('operate.title')}>
      {pages.map(({ to, name, sign }) => (
        <Spotlight.Action
          key={to}
          label={t(`operate.pages.${name}`)}
          leftSection={<Sign path={sign} />}
          onClick={() => onOpen(to)}
        />
      ))}
    </Spotlight.ActionsGroup>
  )
}

interface FoundActionsProps {
  readonly found: readonly Found[]
  /** Called before a result is opened. */
  readonly onOpen: () => void
}

function FoundActions({ found, onOpen }: FoundActionsProps) {
  const { t } = useTranslation()
  return found.map(({ kind, rows }) => (
    <Spotlight.ActionsGroup
      key={kind}
      label={kind === 'accounts' ? t('operate.pages.accounts') : t(`pages.${kind}`)}
    >
      {rows.map(({ id, name, hint, open: openRow }) => (
        <Spotlight.Action
          key={id}
          label={name}
          description={hint}
          leftSection={<Icon name={SIGNS[kind]} />}
          onClick={() => {
            onOpen()
            openRow()
          }}
        />
      ))}
    </Spotlight.ActionsGroup>
  ))
}
