/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ side of the probes: a scope object that marks itself as failed when an
 * exception leaves it, and overloads for attributes. Included by probe.h.
 */
#ifndef TARE_SCOPE_HPP
#define TARE_SCOPE_HPP

#include <tare/probe.h>

#ifndef TARE_DISABLE
#include <tare/exception.hpp>

#include <exception>
#include <string>
#include <type_traits>

namespace tare {

/* Not copied, not moved: it is the block. */
class scope {
public:
	TARE_UNHOOKED explicit scope(tare_site *site) noexcept
	    : handle_(tare_scope_begin(site))
	{
		if (TARE_UNLIKELY(handle_.frame != nullptr))
			exceptions_ = std::uncaught_exceptions();
	}
	TARE_UNHOOKED ~scope()
	{
		if (TARE_UNLIKELY(handle_.frame != nullptr))
			leave();
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

	TARE_UNHOOKED operator tare_scope() const noexcept
	{
		return handle_;
	}

private:
	TARE_UNHOOKED void leave() noexcept
	{
		if (std::uncaught_exceptions() > exceptions_)
			exception_::fail(handle_);
		tare_scope_end(handle_);
	}

	tare_scope handle_;
	int exceptions_ = 0;
};

class exact_scope {
public:
	TARE_UNHOOKED explicit exact_scope(tare_site *site) noexcept
	    : handle_(tare_scope_begin(site))
	{
		if (TARE_UNLIKELY(handle_.frame != nullptr))
			exceptions_ = std::uncaught_exceptions();
	}
	TARE_UNHOOKED ~exact_scope()
	{
		if (std::uncaught_exceptions() > exceptions_)
			exception_::fail(handle_);
		tare_scope_end_exact(handle_);
	}
	exact_scope(const exact_scope &) = delete;
	exact_scope &operator=(const exact_scope &) = delete;

private:
	tare_scope handle_;
	int exceptions_ = 0;
};

inline void attr(const char *key, const char *value)
{
	tare_attr_str(key, value);
}

inline void attr(const char *key, const std::string &value)
{
	tare_attr_str(key, value.c_str());
}

template <typename T>
inline typename std::enable_if<std::is_arithmetic<T>::value>::type
attr(const char *key, T value)
{
	if (std::is_floating_point<T>::value)
		tare_attr_double(key, static_cast<double>(value));
	else
		tare_attr_int(key, static_cast<int64_t>(value));
}

inline tare_attr attr_of(const char *key, const char *value)
{
	return tare_attr_of_str(key, value);
}

/* Borrows: for the statement that it stands in. */
inline tare_attr attr_of(const char *key, const std::string &value)
{
	return tare_attr_of_str(key, value.c_str());
}

template <typename T>
inline typename std::enable_if<std::is_arithmetic<T>::value, tare_attr>::type
attr_of(const char *key, T value)
{
	return std::is_floating_point<T>::value ?
		       tare_attr_of_double(key, static_cast<double>(value)) :
		       tare_attr_of_int(key, static_cast<int64_t>(value));
}

template <typename T> constexpr bool is_double()
{
	return std::is_floating_point<typename std::decay<T>::type>::value;
}

template <typename T>
TARE_UNHOOKED inline typename std::enable_if<is_double<T>()>::type
count(tare_site *site, T n)
{
	tare_counter_add_double(site, static_cast<double>(n));
}

template <typename T>
TARE_UNHOOKED inline typename std::enable_if<!is_double<T>()>::type
count(tare_site *site, T n)
{
	tare_counter_add(site, static_cast<uint64_t>(n));
}

} /* namespace tare */
#endif

#endif
