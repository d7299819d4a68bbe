import { mount } from 'svelte';

import App from './App.svelte';
import { prefs } from './state/prefs.svelte';

prefs.apply();
const target = document.getElementById('app');
if (target) mount(App, { target });
