import type { SourceView } from '../../setup/types';
import { fieldsOf, realEdits, type Edits, type SourceFields } from './source-form';
import { problemsOf, type Problems } from './source-problems';

/** Unsaved edits, by source. They survive leaving the settings page, so that nothing typed is lost. */
class Drafts {
  #edits = $state<Record<string, Edits>>({});
  #refused = $state<Record<string, Problems>>({});

  constructor() {
    if (typeof window === 'undefined') return;
    window.addEventListener('beforeunload', (event) => {
      if (Object.keys(this.#edits).length > 0) event.preventDefault();
    });
  }

  /** Returns the edits of a source that differ from its saved settings. */
  of(source: SourceView): Edits {
    return realEdits(fieldsOf(source), this.#edits[source.slug] ?? {});
  }

  /** Returns a source's fields, including its edits. */
  fields(source: SourceView): SourceFields {
    return { ...fieldsOf(source), ...this.of(source) };
  }

  /** Whether a source has unsaved edits. */
  has(source: SourceView): boolean {
    return Object.keys(this.of(source)).length > 0;
  }

  /** Returns the problems of the fields, found here or reported by the engine. */
  problems(source: SourceView): Problems {
    return { ...problemsOf(this.fields(source)), ...this.#refused[source.slug] };
  }

  /** Whether a field shows its own problem: only after it was edited, or refused by the engine. */
  shows(source: SourceView, name: keyof SourceFields): boolean {
    return name in this.of(source) || name in (this.#refused[source.slug] ?? {});
  }

  /** Remembers what the engine said about a field, until the source is edited again. */
  refuse(slug: string, name: keyof SourceFields, says: string): void {
    this.#refused[slug] = { [name]: says };
  }

  /** Takes edits of several fields at once. */
  editAll(source: SourceView, all: Edits): void {
    delete this.#refused[source.slug];
    const edits = realEdits(fieldsOf(source), { ...this.#edits[source.slug], ...all });
    if (Object.keys(edits).length > 0) this.#edits[source.slug] = edits;
    else this.drop(source.slug);
  }

  /** Takes an edit of one field. */
  edit<N extends keyof SourceFields>(source: SourceView, name: N, value: SourceFields[N]): void {
    this.editAll(source, { [name]: value });
  }

  /** Discards a source's edits and refusals. */
  drop(slug: string): void {
    delete this.#edits[slug];
    delete this.#refused[slug];
  }
}

export const drafts = new Drafts();
