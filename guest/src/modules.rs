//! The module loader: it serves what the bundle captured and nothing else.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Context, Ctx, Error, Module, Result, Runtime, WriteOptions};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Sources by canonical name, and what each module's specifiers mean.
#[derive(Default)]
pub struct Modules {
    sources: BTreeMap<String, String>,
    imports: BTreeMap<(String, String), String>,
    /// Modules of the base image, importable by their own name.
    builtin: Vec<String>,
}

/// A handle to the modules; the runtime's loader holds another.
#[derive(Clone, Default)]
pub struct Registry(Rc<RefCell<Modules>>);

impl Registry {
    pub fn add_source(&self, name: String, source: String) {
        self.0.borrow_mut().sources.insert(name, source);
    }

    pub fn add_import(&self, from: String, specifier: String, target: String) {
        self.0.borrow_mut().imports.insert((from, specifier), target);
    }

    pub fn add_builtin(&self, name: String) {
        self.0.borrow_mut().builtin.push(name);
    }

    pub fn source(&self, name: &str) -> Option<String> {
        self.0.borrow().sources.get(name).cloned()
    }

    /// Forgets sources and imports once everything is evaluated. Nothing can be imported afterwards.
    pub fn clear(&self) {
        let mut modules = self.0.borrow_mut();
        modules.sources.clear();
        modules.imports.clear();
    }

    /// Installs this registry as the runtime's loader.
    pub fn install(&self, runtime: &Runtime) {
        runtime.set_loader(self.clone(), self.clone());
    }
}

impl Resolver for Registry {
    fn resolve<'js>(
        &mut self,
        _context: &Ctx<'js>,
        base: &str,
        specifier: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let modules = self.0.borrow();
        if let Some(target) = modules.imports.get(&(base.to_owned(), specifier.to_owned())) {
            return Ok(target.clone());
        }
        let is_builtin = |name: &str| modules.builtin.iter().any(|builtin| builtin == name);
        let is_internal = specifier.starts_with("callcell:");
        if is_builtin(specifier) && (!is_internal || base.starts_with('@')) {
            return Ok(specifier.to_owned());
        }
        Err(Error::new_resolving(base, specifier))
    }
}

impl Loader for Registry {
    fn load<'js>(
        &mut self,
        context: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let source = self.source(name).ok_or_else(|| Error::new_loading(name))?;
        Module::declare(context.clone(), name, source)
    }
}

/// Compiles a module without its debug tables, which a library in a base image would only carry around. The context that
/// compiles it is a scratch one, or its modules would include the unstripped twin.
pub fn compile_stripped(runtime: &Runtime, name: &str, source: &str) -> Result<Vec<u8>> {
    Context::full(runtime)?.with(|scratch| {
        let options = WriteOptions { strip_debug: true, strip_source: true, ..WriteOptions::default() };
        Module::declare(scratch, name, source)?.write(options)
    })
}
