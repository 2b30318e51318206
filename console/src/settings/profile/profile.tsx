import { Button, Select, TextInput, useMantineColorScheme } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Channel } from '../../api/access.ts'
import { accountQuery, usePerson } from '../../api/session.ts'
import { changeAccount } from '../../api/wallet.ts'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { browserZone } from '../../parts/values/browser-zone.ts'
import { chooseLanguage, isLanguage, LANGUAGES } from '../../texts/languages.ts'
import { AddressDialog } from './address-dialog.tsx'
import { Section } from '../section.tsx'
import styles from '../settings.module.css'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

/** Profile, language, theme and time zone. */
export function Profile() {
  const { t } = useTranslation()
  return (
    <>
      <Section title={t('settings.profile')} hint={t('settings.profileHint')}>
        <ProfileForm />
      </Section>
      <Section title={t('settings.addresses')} hint={t('settings.addressesHint')}>
        <Addresses />
      </Section>
      <Section title={t('settings.theme')} hint={t('settings.themeHint')}>
        <Theme />
      </Section>
    </>
  )
}

function ProfileForm() {
  const { t } = useTranslation()
  const { form, submit, isPending, problem, saved } = useProfile()
  return (
    <FormFrame sending={{ submit, isPending, problem }} ready={form.isDirty()} done={saved}>
      <TextInput label={t('settings.name')} autoComplete="name" {...form.getInputProps('name')} />
      <Select
        label={t('frame.language')}
        description={t('settings.languageHint')}
        data={Object.entries(LANGUAGES).map(([value, { label }]) => ({ value, label }))}
        {...form.getInputProps('language')}
      />
      <Select
        label={t('settings.timeZone')}
        description={t('settings.timeZoneHint')}
        searchable
        limit={50}
        nothingFoundMessage={t('frame.nothingFound')}
        data={[
          { value: '', label: t('settings.browserZone', { zone: browserZone() }) },
          ...Intl.supportedValuesOf('timeZone').map((value) => ({ value, label: value })),
        ]}
        {...form.getInputProps('time_zone')}
      />
    </FormFrame>
  )
}

function useProfile() {
  const { t, language: shown } = useTranslation()
  const person = usePerson()
  const queryClient = useQueryClient()
  const [saved, setSaved] = useState<string>()
  const valuesOf = ({ name, language, time_zone }: typeof person) => ({
    name: name ?? '',
    language: language !== null && isLanguage(language) ? language : shown,
    time_zone: time_zone ?? '',
  })
  const form = useForm({ initialValues: valuesOf(person), onValuesChange: () => setSaved(undefined) })
  const sending = useSubmit(form, {
    send: async ({ name, language, time_zone: zone }) => {
      const changed = await changeAccount({
        name: name.trim() === '' ? null : name.trim(),
        language,
        time_zone: zone === '' ? null : zone,
      })
      if (isLanguage(language)) await chooseLanguage(language)
      return changed
    },
    onDone: (changed) => {
      queryClient.setQueryData(accountQuery().queryKey, changed)
      form.setInitialValues(valuesOf(changed))
      form.setValues(valuesOf(changed))
      setSaved(t('saved'))
    },
  })
  return { form, saved, ...sending }
}

function Addresses() {
  const { t } = useTranslation()
  const person = usePerson()
  const [changing, setChanging] = useState<Channel>()
  return (
    <>
      <ul className={styles.list}>
        {(['email', 'phone'] as const).map((channel) => (
          <li key={channel}>
            <span className={styles.words}>
              <small>{t(`settings.channels.${channel}`)}</small>
              {person[channel] ?? t('settings.noAddress')}
            </span>
            <Button
              variant="default"
              size="xs"
              aria-label={t(`settings.changeAddress.${channel}`)}
              onClick={() => setChanging(channel)}
            >
              {t('settings.change')}
            </Button>
          </li>
        ))}
      </ul>
      {changing !== undefined && <AddressDialog channel={changing} onClose={() => setChanging(undefined)} />}
    </>
  )
}

function Theme() {
  const { t } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  return (
    <div>
      <Segments
        aria-label={t('settings.theme')}
        value={colorScheme}
        onChange={(value) => setColorScheme(value)}
        data={(['auto', 'light', 'dark'] as const).map((value) => ({
          value,
          label: t(`settings.themes.${value}`),
        }))}
      />
    </div>
  )
}
